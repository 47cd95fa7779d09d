#include "cli/report/svg.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <span>
#include <system_error>

#include "cli/report/html.h"

namespace adapvae::cli {
namespace {

struct Corner {
  double x, y;
};

std::string edge(double dx, double dy) {
  if (coordinate(dy) == "0") return "h" + coordinate(dx);
  if (coordinate(dx) == "0") return "v" + coordinate(dy);
  return "l" + coordinates(dx, dy);
}

std::string polygon(double x, double y, double radius, std::span<const Corner> corners) {
  std::string out = "M" + coordinates(x + radius * corners[0].x, y + radius * corners[0].y);
  for (std::size_t i = 1; i < corners.size(); ++i) {
    out += edge(radius * (corners[i].x - corners[i - 1].x),
                radius * (corners[i].y - corners[i - 1].y));
  }
  return out + "z";
}

constexpr Corner kSquare[] = {{-0.85, -0.85}, {0.85, -0.85}, {0.85, 0.85}, {-0.85, 0.85}};
constexpr Corner kTriangle[] = {{0.0, -1.1}, {1.05, 0.8}, {-1.05, 0.8}};
constexpr Corner kDiamond[] = {{0.0, -1.2}, {1.2, 0.0}, {0.0, 1.2}, {-1.2, 0.0}};
constexpr Corner kPlus[] = {{-0.36, -1.08}, {0.36, -1.08}, {0.36, -0.36},  {1.08, -0.36},
                            {1.08, 0.36},   {0.36, 0.36},  {0.36, 1.08},   {-0.36, 1.08},
                            {-0.36, 0.36},  {-1.08, 0.36}, {-1.08, -0.36}, {-0.36, -0.36}};
constexpr Corner kPointDown[] = {{0.0, 1.1}, {1.05, -0.8}, {-1.05, -0.8}};
// The plus turned by an eighth of a circle.
constexpr Corner kCross[] = {{0.51, -1.02}, {1.02, -0.51},  {0.51, 0.0},    {1.02, 0.51},
                             {0.51, 1.02},  {0.0, 0.51},    {-0.51, 1.02},  {-1.02, 0.51},
                             {-0.51, 0.0},  {-1.02, -0.51}, {-0.51, -1.02}, {0.0, -0.51}};

double round_step(double span, int wanted) {
  const double rough = span / std::max(1, wanted);
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  const double part = rough / power;
  return power * (part <= 1.5 ? 1.0 : part <= 3.5 ? 2.0 : part <= 7.5 ? 5.0 : 10.0);
}

std::string tick_text(double value, double step) {
  const double size = std::max(std::fabs(value), step);
  if (size >= 1e12 || step < 1e-6) {
    // SVG text has no superscripts.
    char text[64];
    const auto [end, status] =
        std::to_chars(text, text + sizeof text, value, std::chars_format::scientific, 1);
    return status == std::errc() ? std::string(text, end) : "";
  }
  int digits = 0;
  for (double unit = step; unit < 0.999 && digits < 7; unit *= 10.0) ++digits;
  return fixed_text(value, digits);
}

}  // namespace

std::string coordinate(double value) {
  if (!std::isfinite(value)) return "0";
  const double tenths = std::round(std::clamp(value, -1e6, 1e6) * 10.0);
  const auto whole = static_cast<long long>(tenths);
  const long long size = whole < 0 ? -whole : whole;
  std::string out = whole < 0 ? "-" : "";
  if (size >= 10 || size == 0) out += std::to_string(size / 10);
  if (size % 10 != 0) out += "." + std::to_string(size % 10);
  return out;
}

std::string coordinates(double x, double y) {
  const std::string second = coordinate(y);
  return coordinate(x) + (second[0] == '-' ? "" : " ") + second;
}

double Scale::at(double value) const {
  if (!(to > from) && !(to < from)) return 0.5 * (low + high);
  return low + (value - from) / (to - from) * (high - low);
}

std::vector<Tick> round_ticks(double low, double high, int wanted, bool whole_numbers) {
  std::vector<Tick> out;
  if (!std::isfinite(low) || !std::isfinite(high - low)) return out;
  if (!(high > low)) return {{low, tick_text(low, whole_numbers ? 1.0 : 0.01)}};
  double step = round_step(high - low, wanted);
  if (whole_numbers) step = std::max(1.0, std::round(step));
  const double first = std::ceil(low / step - 1e-9);
  for (int i = 0; i < 64; ++i) {
    const double value = (first + i) * step;
    if (value > high + 1e-9 * step) break;
    out.push_back({value, tick_text(value, step)});
  }
  return out;
}

std::string circle_path(double x, double y, double wanted_radius) {
  // As it will be written: two arcs that do not quite fit would be an egg.
  const double radius = 0.1 * std::max(1.0, std::round(10.0 * wanted_radius));
  const std::string r = coordinate(radius);
  const std::string arc = "a" + r + " " + r + " 0 1 0 ";
  return "M" + coordinates(x - radius, y) + arc + coordinates(2.0 * radius, 0.0) + arc +
         coordinates(-2.0 * radius, 0.0) + "z";
}

std::string shape_path(int shape, double x, double y, double radius) {
  switch (shape % kShapes) {
    case 0:
      return circle_path(x, y, 0.95 * radius);
    case 1:
      return polygon(x, y, radius, kSquare);
    case 2:
      return polygon(x, y, radius, kTriangle);
    case 3:
      return polygon(x, y, radius, kDiamond);
    case 4:
      return polygon(x, y, radius, kPlus);
    case 5:
      return polygon(x, y, radius, kPointDown);
    default:
      return polygon(x, y, radius, kCross);
  }
}

std::string titled(const std::string& element, const std::string& attributes,
                   std::string_view title) {
  return "<" + element + " " + attributes + "><title>" + escape_html(title) + "</title></" +
         element + ">\n";
}

std::string svg_text(double x, double y, const std::string& classes, std::string_view text) {
  return "<text x=\"" + coordinate(x) + "\" y=\"" + coordinate(y) + "\" class=\"" + classes +
         "\">" + escape_html(text) + "</text>\n";
}

std::string svg_line(double x1, double y1, double x2, double y2, const std::string& classes) {
  return "<path class=\"" + classes + "\" d=\"M" + coordinates(x1, y1) + "L" + coordinates(x2, y2) +
         "\"/>\n";
}

void Plot::fit() {
  x.low = inner_left();
  x.high = inner_right();
  y.low = inner_bottom();
  y.high = inner_top();
}

std::string Plot::x_axis(const std::vector<Tick>& ticks, const std::string& title) const {
  std::string out = svg_line(inner_left(), inner_bottom(), inner_right(), inner_bottom(), "axis");
  double free_from = -1e9;
  for (const Tick& tick : ticks) {
    const double at = x.at(tick.at);
    const double half = 3.6 * static_cast<double>(tick.label.size());
    if (at - half < free_from) continue;
    free_from = at + half + 8.0;
    out += svg_line(at, inner_bottom(), at, inner_bottom() + 4.0, "axis");
    // The last one must not stand out over the edge.
    const bool at_edge = at + half > width;
    out +=
        svg_text(at_edge ? width : at, inner_bottom() + 17.0, at_edge ? "t e" : "t m", tick.label);
  }
  if (!title.empty()) out += svg_text(inner_right(), height - 3.0, "t e", title);
  return out;
}

std::string Plot::y_axis(const std::vector<Tick>& ticks) const {
  std::string out;
  for (const Tick& tick : ticks) {
    const double at = y.at(tick.at);
    out += svg_line(inner_left(), at, inner_right(), at, "grid");
    out += svg_text(inner_left() - 7.0, at + 4.0, "t e", tick.label);
  }
  return out;
}

std::string svg_picture(double width, double height, const std::string& classes,
                        const std::string& label, const std::string& inner) {
  return "<svg class=\"" + classes + "\" viewBox=\"0 0 " + coordinates(width, height) +
         "\" role=\"img\" aria-label=\"" + escape_html(label) + "\">\n" + inner + "</svg>\n";
}

Curve thinned_extremes(const Curve& curve, std::size_t buckets) {
  if (curve.size() <= 2 * buckets) return curve;
  Curve out;
  const auto lower = [](const auto& a, const auto& b) { return a.second < b.second; };
  for (std::size_t i = 0; i < buckets; ++i) {
    const auto from = curve.begin() + static_cast<std::ptrdiff_t>(i * curve.size() / buckets);
    const auto to = curve.begin() + static_cast<std::ptrdiff_t>((i + 1) * curve.size() / buckets);
    const auto [lowest, highest] = std::minmax_element(from, to, lower);
    out.push_back(lowest < highest ? *lowest : *highest);
    if (lowest != highest) out.push_back(lowest < highest ? *highest : *lowest);
  }
  return out;
}

std::string curve_path(const Curve& curve, const Scale& x, const Scale& y) {
  std::string out;
  for (const auto& [at, value] : curve) {
    out += (out.empty() ? "M" : "L") + coordinates(x.at(at), y.at(value));
  }
  return out;
}

}  // namespace adapvae::cli
