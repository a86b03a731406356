#include "reports/write/html/markup.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <sstream>

#include <fmt/format.h>

#include "reports/base/text.h"
#include "reports/statistics/statistics.h"

namespace torchstone::html {
namespace {

/// Returns two cells of "  worst element       [0]: reference 1, result 2", and one cell of a line without columns.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  for (size_t at = line.find_first_not_of(' '); at != std::string::npos;) {
    const size_t gap = line.find("  ", at);
    cells.push_back(line.substr(at, gap == std::string::npos ? gap : gap - at));
    at = gap == std::string::npos ? gap : line.find_first_not_of(' ', gap);
  }
  return cells;
}

std::string table_row(const std::vector<std::string>& cells, bool header) {
  std::string out = "<tr>";
  for (size_t i = 0; i < cells.size(); ++i)
    out += fmt::format("<{}>{}", i == 0 || header ? "th" : "td", escaped(cells[i]));
  return out;
}

/// Appends "2-3" or "2 3": in SVG paths a minus sign separates numbers as a space does.
void append(std::string& out, int dx, int dy) { out += fmt::format("{}{}{}", dx, dy < 0 ? "" : " ", dy); }

}  // namespace

std::string escaped(std::string_view text) { return xml_attribute(text); }

std::string escaped_cut(std::string_view text, size_t limit) {
  if (text.size() <= limit) return escaped(text);
  // Moves a cut to the start of the next UTF-8 character.
  const auto boundary = [&](size_t at) {
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) ++at;
    return at;
  };
  const size_t head = boundary(limit / 2), tail = boundary(text.size() - limit / 2);
  return fmt::format("{}\n\n… {} bytes left out; the JSON has them …\n\n{}", escaped(text.substr(0, head)), tail - head,
                     escaped(text.substr(tail)));
}

std::string duration_text(double seconds) {
  if (!(seconds >= 0) || seconds > 1e9) return "unknown";
  if (seconds < 10) return fmt::format("{:.1f} s", seconds);
  const auto whole = std::llround(seconds);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

std::string mismatch_tables(const std::string& report, size_t limit) {
  const std::string text = report.size() > limit ? shortened(valid_utf8(report), limit) : report;
  std::istringstream lines(text);
  std::string out;
  size_t columns = 0;  // of the table that is open
  const auto close = [&] {
    if (columns > 0) out += "</table>";
    columns = 0;
  };
  for (std::string line; std::getline(lines, line);) {
    const auto cells = cells_of(line);
    if (cells.empty()) continue;
    if (cells.size() == 1) {
      close();
      out += fmt::format("<p>{}</p>", escaped(cells[0]));
      continue;
    }
    const bool opens = cells.size() != columns;
    if (opens) {
      close();
      columns = cells.size();
      out += columns == 2 ? "<table class=\"kv tx\">" : "<table class=mm>";
    }
    out += table_row(cells, opens && columns > 2);
  }
  close();
  if (out.empty()) return "";
  return "<div class=mis><h3>Mismatch</h3>" + out + "</div>";
}

int Scale::operator()(double value) const {
  const auto place = [&](double v) { return logarithmic ? std::log(v) : v; };
  if (!(value > low)) return from;
  if (value >= high) return to;
  const double part = (place(value) - place(low)) / (place(high) - place(low));
  return from + static_cast<int>(std::lround(part * (to - from)));
}

std::string line_path(const Points& points) {
  if (points.empty()) return "";
  std::string out = "M";
  append(out, points[0].first, points[0].second);
  for (size_t i = 1; i < points.size(); ++i) {
    const int dx = points[i].first - points[i - 1].first, dy = points[i].second - points[i - 1].second;
    out += i == 1 ? "l" : dx < 0 ? "" : " ";
    append(out, dx, dy);
  }
  return out;
}

std::string dots_path(const Points& points) {
  std::string out;
  for (size_t i = 0; i < points.size(); ++i) {
    out += i == 0 ? "M" : "m";
    append(out, points[i].first - (i == 0 ? 0 : points[i - 1].first),
           points[i].second - (i == 0 ? 0 : points[i - 1].second));
    out += "h0";
  }
  return out;
}

double quantile(std::span<const double> values, double q) {
  std::vector<double> finite;
  std::ranges::copy_if(values, std::back_inserter(finite), [](double v) { return std::isfinite(v); });
  return finite.empty() ? std::numeric_limits<double>::quiet_NaN() : statistics::quantile(std::move(finite), q);
}

std::vector<double> thinned(const std::vector<double>& values, size_t limit) {
  if (values.size() <= limit || limit == 0) return values;
  const size_t group = (values.size() + limit - 1) / limit;
  std::vector<double> out;
  for (size_t i = 0; i < values.size(); i += group)
    out.push_back(quantile(std::span(values).subspan(i, std::min(group, values.size() - i)), 0.5));
  return out;
}

std::vector<double> round_ticks(double low, double high) {
  if (!std::isfinite(low) || !std::isfinite(high) || !(high > low)) return {};
  const double power = std::pow(10, std::floor(std::log10(high - low)) - 1);
  for (const double step : {50.0, 20.0, 10.0, 5.0, 2.0, 1.0}) {
    const double first = std::ceil(low / (step * power)), last = std::floor(high / (step * power));
    if (last - first < 1) continue;
    std::vector<double> ticks;
    for (double i = first; i <= last; ++i) ticks.push_back(i * step * power + 0.0);  // no -0
    return ticks;
  }
  return {};
}

std::string time_text(double seconds) {
  const double size = std::abs(seconds);
  if (size < 1e-3) return fmt::format("{:.3g} µs", seconds * 1e6);
  if (size < 1) return fmt::format("{:.3g} ms", seconds * 1e3);
  return fmt::format("{:.3g} s", seconds);
}

std::string svg_open(int width, int height, std::string_view css_class) {
  return fmt::format("<svg class={0} viewBox=\"0 0 {1} {2}\" width={1} font-size=10>", css_class, width, height);
}

std::string svg_text(int x, int y, std::string_view text, std::string_view css_class) {
  return fmt::format("<text x={} y={}{}{}>{}</text>", x, y, css_class.empty() ? "" : " class=", css_class,
                     escaped(text));
}

std::string svg_strokes(const std::string& paths) { return "<g fill=none stroke=gray>" + paths + "</g>"; }

std::string svg_stroke(std::string_view css_class, std::string_view d) {
  return fmt::format("<path class={} d=\"{}\"/>", css_class, d);
}

std::string svg_line(int x1, int y1, int x2, int y2, std::string_view css_class) {
  const std::string end = y1 == y2   ? fmt::format("H{}", x2)
                          : x1 == x2 ? fmt::format("V{}", y2)
                                     : fmt::format("L{} {}", x2, y2);
  return svg_stroke(css_class, fmt::format("M{} {}{}", x1, y1, end));
}

namespace frame {

Grid grid(const Scale& y, const std::function<std::string(double)>& label) {
  Grid grid;
  std::string lines;
  for (const double tick : round_ticks(y.low, y.high)) {
    lines += fmt::format("M{} {}H{}", left + 36, y(tick), right);
    grid.labels += svg_text(left, y(tick) + 3, label(tick));
  }
  grid.strokes = svg_stroke("gr", lines);
  return grid;
}

int x_of(size_t index, size_t count) {
  const double part = count > 1 ? static_cast<double>(index) / static_cast<double>(count - 1) : 0.5;
  return left + 38 + static_cast<int>(std::lround(part * (right - left - 40)));
}

Points points_of(const std::vector<double>& values, const Scale& y) {
  Points points;
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i])) points.emplace_back(x_of(i, values.size()), y(values[i]));
  }
  return points;
}

std::string count_label(size_t count, std::string_view what, size_t max_points) {
  std::string text = fmt::format("{} {}", count, what);
  if (count > max_points) text += fmt::format(", medians of {}", (count + max_points - 1) / max_points);
  return svg_text(left + 36, floor_y + 14, text + " →");
}

std::string captioned(std::string_view caption, const std::string& figure) {
  return figure.empty() ? "" : fmt::format("<figure><figcaption>{}</figcaption>{}</figure>", caption, figure);
}

}  // namespace frame
}  // namespace torchstone::html
