// SPDX-License-Identifier: Apache-2.0
// Untrusted text inside of HTML, XML, Markdown and links. Used by the report writers.
// Signal-safe: no.
#ifndef WALKHAMMER_REPORTS_MARKUP_H_
#define WALKHAMMER_REPORTS_MARKUP_H_

#include <string>
#include <string_view>

namespace walkhammer {

// Returns `text` with `<`, `>`, `&` and `"` as HTML and XML need them. Bytes stay as they are.
std::string EscapeMarkup(std::string_view text);

// Returns `text` for HTML and XML 1.0, between tags and in quoted attributes. "?" stands for each
// byte or character that XML 1.0 forbids, for other control characters, and for what is not UTF-8.
// Line ends and tabs stay.
std::string MarkupText(std::string_view text);

// Returns `text` as one line of GitHub's and GitLab's Markdown that shows just this text, also in
// the cell of a table: no link, no heading, no HTML, no mention of a user.
std::string MarkdownText(std::string_view text);

// Returns `text` as a code span of Markdown, on one line. In a table, where "|" ends a cell also
// within code, a backslash stands before it, and is not shown.
std::string MarkdownCode(std::string_view text, bool in_table = false);

// Returns the path as a relative or absolute reference of a URL: "/" stays, all but letters, digits
// and "-._~" becomes %XX, also a colon, so that no part is taken for a scheme.
std::string UrlPath(std::string_view path);

}  // namespace walkhammer

#endif  // WALKHAMMER_REPORTS_MARKUP_H_
