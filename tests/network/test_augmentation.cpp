// Augmented images against a bilinear interpolation in double that is written anew here.
#include <algorithm>
#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "network/augmentation.h"
#include "support/network_fixture.h"

using namespace adapvae;
using namespace adapvae::testing;

namespace {

RandomKey test_key(std::uint32_t epoch = 2) {
  return {.seed = 99, .purpose = RandomPurpose::kAugmentation, .stream = 1, .epoch = epoch};
}

// What a row draws, in the order of the library: angle, scale, shear, shift right, shift down.
struct Draw {
  double angle, scale, shear, shift_x, shift_y;
};

Draw draw_of(const AugmentationSettings& settings, RandomKey key, std::uint32_t row_id) {
  key.index = row_id;
  Philox random(key);
  const auto symmetric = [&](float range) {
    return static_cast<double>(range) * (2.0 * random.uniform_float() - 1.0);
  };
  Draw draw;
  draw.angle = symmetric(settings.rotation);
  draw.scale = 1.0 + symmetric(settings.scale);
  draw.shear = symmetric(settings.shear);
  draw.shift_x = symmetric(settings.shift);
  draw.shift_y = symmetric(settings.shift);
  return draw;
}

double pixel(const float* plane, Index width, Index height, Index x, Index y) {
  return x >= 0 && x < width && y >= 0 && y < height ? plane[y * width + x] : 0.0;
}

double bilinear(const float* plane, Index width, Index height, double x, double y) {
  const Index left = static_cast<Index>(std::floor(x));
  const Index top = static_cast<Index>(std::floor(y));
  double sum = 0.0;
  for (Index dy = 0; dy <= 1; ++dy) {
    for (Index dx = 0; dx <= 1; ++dx) {
      const double weight = (1.0 - std::fabs(x - static_cast<double>(left + dx))) *
                            (1.0 - std::fabs(y - static_cast<double>(top + dy)));
      sum += weight * pixel(plane, width, height, left + dx, top + dy);
    }
  }
  return sum;
}

// The pixel at p comes from centre + shift + rotation · shear · (p - centre) / scale.
std::vector<double> reference_image(const AugmentationSettings& settings, const Draw& draw,
                                    const float* image) {
  const double centre_x = 0.5 * static_cast<double>(settings.width - 1);
  const double centre_y = 0.5 * static_cast<double>(settings.height - 1);
  std::vector<double> result;
  for (Index c = 0; c < settings.channels; ++c) {
    const float* plane = image + c * settings.width * settings.height;
    for (Index row = 0; row < settings.height; ++row) {
      for (Index column = 0; column < settings.width; ++column) {
        const double v = (static_cast<double>(row) - centre_y) / draw.scale;
        const double u = (static_cast<double>(column) - centre_x) / draw.scale + draw.shear * v;
        const double x =
            centre_x + draw.shift_x + std::cos(draw.angle) * u - std::sin(draw.angle) * v;
        const double y =
            centre_y + draw.shift_y + std::sin(draw.angle) * u + std::cos(draw.angle) * v;
        result.push_back(bilinear(plane, settings.width, settings.height, x, y));
      }
    }
  }
  return result;
}

double worst_difference(const float* image, const std::vector<double>& reference) {
  double worst = 0.0;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    const double difference = std::fabs(image[i] - reference[i]);
    worst = difference <= worst ? worst : difference;
  }
  return worst;
}

}  // namespace

TEST_CASE("without any range the image comes out bit for bit") {
  for (const AugmentationSettings settings :
       {AugmentationSettings{.width = 28, .height = 28},
        AugmentationSettings{.width = 7, .height = 4, .channels = 3},
        AugmentationSettings{.width = 1, .height = 1},
        AugmentationSettings{.width = 1, .height = 9},
        AugmentationSettings{.width = 9, .height = 1, .channels = 2}}) {
    const Index inputs = settings.width * settings.height * settings.channels;
    REQUIRE(check_augmentation(settings, inputs).ok());
    const Rows clean = random_rows(5, inputs, 1, 2);
    Rows out(5, inputs, 3);
    augment_rows(settings, test_key(), nullptr, clean.view(), out.view());
    bool same = true;
    for (Index i = 0; i < clean.rows; ++i) {
      for (Index j = 0; j < inputs; ++j) same = same && out(i, j) == clean(i, j);
    }
    CHECK(same);
  }
}

TEST_CASE("every kind of change agrees with the reference, in all channels") {
  const AugmentationSettings base = {.width = 11, .height = 8, .channels = 3};
  std::vector<AugmentationSettings> all(6, base);
  all[0].shift = 3.0F;
  all[1].rotation = 3.0F;
  all[2].scale = 0.6F;
  all[3].shear = 0.8F;
  all[4] = {.width = 11,
            .height = 8,
            .channels = 3,
            .shift = 2.0F,
            .rotation = 0.5F,
            .scale = 0.3F,
            .shear = 0.4F};
  all[5].shift = 100.0F;
  for (const AugmentationSettings& settings : all) {
    REQUIRE(check_augmentation(settings, 264).ok());
    const Rows clean = random_rows(40, 264, 3, 1);
    Rows out(40, 264, 2);
    augment_rows(settings, test_key(), nullptr, clean.view(), out.view());
    double worst = 0.0;
    double change = 0.0;
    for (Index i = 0; i < clean.rows; ++i) {
      const Draw draw = draw_of(settings, test_key(), static_cast<std::uint32_t>(i));
      const ConstMatrixView row = clean.view();
      worst = std::max(
          worst, worst_difference(out.view().row(i), reference_image(settings, draw, row.row(i))));
      for (Index j = 0; j < 264; ++j) {
        change = std::max<double>(change, std::fabs(out(i, j) - clean(i, j)));
      }
    }
    CHECK(worst <= 5e-5);
    CHECK(change > 0.5);
  }
}

TEST_CASE("a shift by whole pixels moves the image and fills with zeros") {
  // The range is chosen so that row `id` shifts by exactly 2 columns; ids are tried until the same
  // range also gives a whole number of rows.
  AugmentationSettings settings = {.width = 9, .height = 7, .channels = 2};
  int found = 0;
  for (std::uint32_t id = 0; id < 20000 && found < 5; ++id) {
    settings.shift = 1.0F;
    const Draw unit = draw_of(settings, test_key(), id);
    const double range = 2.0 / std::fabs(unit.shift_x);
    const double down = range * unit.shift_y;
    if (std::fabs(down - std::round(down)) > 2e-4 || std::fabs(down) < 0.5 || range > 6.0) continue;
    ++found;
    settings.shift = static_cast<float>(range);
    const Index columns = unit.shift_x > 0.0 ? 2 : -2;
    const Index lines = static_cast<Index>(std::lround(down));
    const Rows clean = uniform_rows(1, 126, id);
    Rows out(1, 126);
    augment_rows(settings, test_key(), &id, clean.view(), out.view());
    double worst = 0.0;
    for (Index c = 0; c < 2; ++c) {
      for (Index y = 0; y < 7; ++y) {
        for (Index x = 0; x < 9; ++x) {
          const double expected = pixel(clean.data.data() + c * 63, 9, 7, x + columns, y + lines);
          worst = std::max(worst, std::fabs(out(0, c * 63 + y * 9 + x) - expected));
        }
      }
    }
    CAPTURE(id);
    CAPTURE(columns);
    CAPTURE(lines);
    CHECK(worst <= 1e-3);
  }
  CHECK(found == 5);
}

TEST_CASE("what lies outside counts as zero") {
  // Constant images: inside stays 1, far outside is exactly 0, nothing leaves [0, 1].
  const AugmentationSettings settings = {.width = 6, .height = 6, .shift = 30.0F, .rotation = 1.0F};
  Rows clean(300, 36);
  std::fill(clean.data.begin(), clean.data.end(), 1.0F);
  Rows out(300, 36);
  augment_rows(settings, test_key(), nullptr, clean.view(), out.view());
  int empty = 0;
  for (Index i = 0; i < clean.rows; ++i) {
    const Draw draw = draw_of(settings, test_key(), static_cast<std::uint32_t>(i));
    const float* row = out.view().row(i);
    CHECK(*std::min_element(row, row + 36) >= 0.0F);
    CHECK(*std::max_element(row, row + 36) <= 1.00001F);
    if (std::hypot(draw.shift_x, draw.shift_y) > 11.0) {
      ++empty;
      CHECK(std::all_of(row, row + 36, [](float value) { return value == 0.0F; }));
    }
  }
  CHECK(empty > 100);
}

TEST_CASE("the change of a row depends on its id and the key, not on its place") {
  const AugmentationSettings settings = {
      .width = 6, .height = 6, .shift = 2.0F, .rotation = 0.5F, .scale = 0.2F, .shear = 0.2F};
  const Rows image = random_rows(1, 36, 4);
  Rows clean(10, 36);
  for (Index i = 0; i < 10; ++i) std::copy_n(image.data.data(), 36, clean.view().row(i));
  const std::uint32_t ids[] = {5, 9, 5, 0, 1, 2, 3, 4, 6, 7};
  Rows by_id(10, 36);
  Rows by_place(10, 36);
  augment_rows(settings, test_key(), ids, clean.view(), by_id.view());
  augment_rows(settings, test_key(), nullptr, clean.view(), by_place.view());
  const auto same = [](const Rows& a, Index i, const Rows& b, Index j) {
    return std::equal(a.view().row(i), a.view().row(i) + a.cols, b.view().row(j));
  };
  CHECK(same(by_id, 0, by_id, 2));
  for (Index i = 0; i < 10; ++i) CHECK(same(by_id, i, by_place, ids[i]));
  CHECK_FALSE(same(by_place, 0, by_place, 1));
  Rows alone(1, 36);
  augment_rows(settings, test_key(), ids + 1, image.view(), alone.view());
  CHECK(same(alone, 0, by_id, 1));
  Rows later(10, 36);
  augment_rows(settings, test_key(3), ids, clean.view(), later.view());
  CHECK_FALSE(same(later, 0, by_id, 0));
}

TEST_CASE("settings that make no sense are refused") {
  const AugmentationSettings good = {.width = 4, .height = 3, .channels = 2};
  CHECK(check_augmentation({}, 24).ok());
  CHECK(check_augmentation(good, 24).ok());
  const auto refused = [](AugmentationSettings settings, Index inputs = 24) {
    return check_augmentation(settings, inputs).code() == StatusCode::kInvalidArgument;
  };
  CHECK(refused(good, 23));
  CHECK(refused(good, 25));
  CHECK(refused({.width = 24, .height = 0}));
  CHECK(refused({.width = 24, .height = 1, .channels = 0}));
  CHECK(refused({.width = 24, .height = -1, .channels = -1}));
  constexpr Index kHuge = Index{1} << (8 * sizeof(Index) - 2);
  CHECK(refused({.width = kHuge, .height = kHuge, .channels = 4}));
  for (const float bad : {-0.1F, NAN, INFINITY}) {
    AugmentationSettings settings = good;
    settings.shift = bad;
    CHECK(refused(settings));
    settings = good;
    settings.rotation = bad;
    CHECK(refused(settings));
    settings = good;
    settings.scale = bad;
    CHECK(refused(settings));
    settings = good;
    settings.shear = bad;
    CHECK(refused(settings));
  }
  AugmentationSettings settings = good;
  settings.scale = 1.0F;
  CHECK(refused(settings));
  CHECK_FALSE(AugmentationSettings{}.active());
  CHECK(good.active());
}
