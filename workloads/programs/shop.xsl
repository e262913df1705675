<!-- SPDX-License-Identifier: Apache-2.0 -->
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
  <xsl:output method="html" indent="yes"/>
  <xsl:key name="kind" match="item" use="@kind"/>
  <xsl:template match="/shop">
    <html><body>
      <xsl:for-each select="item[generate-id() = generate-id(key('kind', @kind)[1])]">
        <xsl:sort select="count(key('kind', @kind))" data-type="number"/>
        <h1><xsl:value-of select="@kind"/></h1>
        <p><xsl:value-of select="sum(key('kind', @kind)/@price)"/></p>
        <xsl:for-each select="key('kind', @kind)">
          <xsl:sort select="name"/>
          <xsl:sort select="@price" data-type="number" order="descending"/>
          <xsl:apply-templates select="."/>
        </xsl:for-each>
      </xsl:for-each>
    </body></html>
  </xsl:template>
  <xsl:template match="item">
    <tr id="{@id}">
      <td><xsl:value-of select="translate(name, 'aeiou', 'AEIOU')"/></td>
      <td><xsl:value-of select="format-number(@price div 100, '#,##0.00')"/></td>
      <td><xsl:call-template name="reverse"><xsl:with-param name="s" select="text"/>
      </xsl:call-template></td>
    </tr>
  </xsl:template>
  <xsl:template name="reverse">
    <xsl:param name="s"/>
    <xsl:if test="string-length($s) &gt; 0">
      <xsl:call-template name="reverse">
        <xsl:with-param name="s" select="substring($s, 2)"/>
      </xsl:call-template>
      <xsl:value-of select="substring($s, 1, 1)"/>
    </xsl:if>
  </xsl:template>
</xsl:stylesheet>
