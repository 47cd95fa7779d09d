// Pieces of SVG: scales, axes, marks. Colours and sizes of text come from the page's style sheet.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace adapvae::cli {

// A number of SVG's user units: short, and 0 if it is not finite.
std::string coordinate(double value);
// "12.5 40", a point of a path.
std::string coordinates(double x, double y);

struct Scale {
  double from = 0.0, to = 1.0;   // of the data
  double low = 0.0, high = 1.0;  // of the picture
  double at(double value) const;
};

struct Tick {
  double at = 0.0;
  std::string label;
};

// Round numbers from `low` to `high`, about `wanted` of them.
std::vector<Tick> round_ticks(double low, double high, int wanted, bool whole_numbers);

// Shapes that tell clusters apart without colour. The number is taken modulo kShapes.
inline constexpr int kShapes = 7;
std::string shape_path(int shape, double x, double y, double radius);
std::string circle_path(double x, double y, double radius);

// A closed path is a mark of its own; `title` is plain text, shown on hovering.
std::string titled(const std::string& element, const std::string& attributes,
                   std::string_view title);

std::string svg_text(double x, double y, const std::string& classes, std::string_view text);
std::string svg_line(double x1, double y1, double x2, double y2, const std::string& classes);

// A picture with axes.
struct Plot {
  double width = 960.0, height = 300.0;
  double left = 48.0, right = 12.0, top = 12.0, bottom = 34.0;  // margins
  Scale x, y;                                                   // `low` and `high` by fit()

  void fit();
  double inner_left() const { return left; }
  double inner_right() const { return width - right; }
  double inner_top() const { return top; }
  double inner_bottom() const { return height - bottom; }
  std::string x_axis(const std::vector<Tick>& ticks, const std::string& title) const;
  std::string y_axis(const std::vector<Tick>& ticks) const;
};

// The element around a picture; `label` is for those who do not see it.
std::string svg_picture(double width, double height, const std::string& classes,
                        const std::string& label, const std::string& inner);

using Curve = std::vector<std::pair<double, double>>;
// The lowest and the highest point of each of `buckets` stretches, in their order; all if few.
Curve thinned_extremes(const Curve& curve, std::size_t buckets);
std::string curve_path(const Curve& curve, const Scale& x, const Scale& y);

}  // namespace adapvae::cli
