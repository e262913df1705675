-- SPDX-License-Identifier: Apache-2.0
-- For pandoc: links to Markdown files lead to their pages. A link to a folder becomes its text,
-- since a site lists no folders.
function Link(link)
  local target = link.target
  if target:match("^%a+:") or target:match("^#") then return nil end
  local path, anchor = target:match("^([^#]*)(#?.*)$")
  if path:match("%.md$") then
    link.target = path:gsub("%.md$", ".html") .. anchor
    return link
  end
  local name = path:gsub("/$", ""):match("[^/]*$")
  if name == ".." or not (name:match("%.") or name == "LICENSE" or name == "reference-builds") then return link.content end
  return nil
end
