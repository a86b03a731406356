#include "reports/base/xml.h"

#include "reports/base/text.h"

namespace torchstone {
namespace {

std::string xml_escaped(std::string_view text, bool attribute) {
  std::string out;
  for (const char c : printable(text)) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"' && attribute)
      out += "&quot;";
    else if (c == '\n' && attribute)
      out += "&#10;";  // a parser would make a space of it
    else if (c == '\t' && attribute)
      out += "&#9;";
    else
      out += c;
  }
  return out;
}

}  // namespace

std::string xml_text(std::string_view text) { return xml_escaped(text, false); }

std::string xml_attribute(std::string_view text) { return xml_escaped(text, true); }

std::string xml_open(std::string_view name, const Attributes& attributes) {
  std::string out = "<" + std::string(name);
  for (const auto& [key, value] : attributes) out += " " + std::string(key) + "=\"" + xml_attribute(value) + "\"";
  return out;
}

}  // namespace torchstone
