// Edits of sets of gains that keep their checksum right. Input: a base, who made the gains, edits,
// then calls on the model that took them.
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/crc64.h"
#include "fuzz_target.h"
#include "seeds.h"
#include "subject.h"

namespace {

using fuzz::Bytes;
using fuzz::Program;

constexpr size_t kHead = 56;
constexpr size_t kTail = 8;
constexpr int kWorkers = 3;

struct Base {
  adapvae_model* model;
  Bytes bytes;
  Bytes gains[kWorkers];  // known rows; novel ones; both
};

Bytes merged(const Bytes& a, const Bytes& b, adapvae_status* status) {
  size_t size = 0;
  *status = adapvae_merge_gains(a.data(), a.size(), b.data(), b.size(), nullptr, 0, &size, nullptr);
  if (*status != ADAPVAE_OK) return {};
  Bytes out(size);
  *status = adapvae_merge_gains(a.data(), a.size(), b.data(), b.size(), out.data(), out.size(),
                                &size, nullptr);
  FUZZ_CHECK(size <= out.size());
  out.resize(size);
  return out;
}

Bytes make_gain(adapvae_model* model, int worker) {
  adapvae_info info = {};
  info.struct_size = sizeof info;
  FUZZ_CHECK(adapvae_get_info(model, &info) == ADAPVAE_OK);
  const uint8_t choice[] = {static_cast<uint8_t>(worker == 1 ? 10 : 12),
                            static_cast<uint8_t>(worker + 3)};
  Program program(choice, sizeof choice);
  const int32_t count = 30 + 10 * worker;
  auto rows = fuzz::rows_of(program, count, info.inputs);
  for (size_t i = 0; worker == 2 && i < rows.size() / 2; ++i) rows[i] = 1.0F - 0.5F * rows[i];
  size_t size = 0;
  FUZZ_CHECK(adapvae_gain(model, nullptr, 0, 0, nullptr, nullptr, 0, &size) == ADAPVAE_OK);
  Bytes out(size);
  const adapvae_gain_key key = {static_cast<uint64_t>(worker), 1};
  FUZZ_CHECK(adapvae_gain(model, rows.data(), count, 0, &key, out.data(), size, &size) ==
             ADAPVAE_OK);
  out.resize(size);
  return out;
}

// Models that can be a base: something is learnt, no row waits, restore_on_failure is on.
const std::array<Base, 8>& bases() {
  static const std::array<Base, 8> all = [] {
    constexpr int kFrom[] = {0, 1, 2, 4, 5, 8, 9, 12};
    std::array<Base, 8> made;
    for (size_t i = 0; i < made.size(); ++i) {
      made[i].model = fuzz::make_seed(kFrom[i], nullptr);
      made[i].bytes = fuzz::saved(made[i].model);
      for (int w = 0; w < kWorkers; ++w) made[i].gains[w] = make_gain(made[i].model, w);
    }
    return made;
  }();
  return all;
}

void put_checksum(Bytes& bytes) {
  const uint64_t sum = adapvae::crc64(bytes.data(), bytes.size() - kTail);
  for (size_t i = 0; i < kTail; ++i) {
    bytes[bytes.size() - kTail + i] = static_cast<unsigned char>(sum >> (8 * i));
  }
}

template <typename Number>
Number get(const Bytes& bytes, size_t at) {
  Number number;
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}
template <typename Number>
void put(Bytes& bytes, size_t at, Number number) {
  std::memcpy(bytes.data() + at, &number, sizeof number);
}

// More or fewer rows, counted alike in the gain and in its first cluster.
void edit_rows(Program& program, Bytes& bytes) {
  constexpr size_t kRows = kHead + 16;
  constexpr size_t kOwn = kHead + 32;
  if (bytes.size() < kOwn + 20 + kTail) return;
  const auto rows = get<uint64_t>(bytes, kRows);
  const auto own = get<uint64_t>(bytes, kOwn);
  const uint64_t wanted = fuzz::extreme_count(program);
  put<uint64_t>(bytes, kOwn, wanted);
  put<uint64_t>(bytes, kRows, rows - own + wanted);
  if (program.below(4) != 0) {
    put<double>(bytes, kOwn + 12,
                static_cast<double>(wanted) + get<uint32_t>(bytes, kOwn + 8) / 4294967296.0);
  }
}

void edit(Program& program, Bytes& bytes) {
  const uint8_t what = program.byte();
  const size_t body = bytes.size() - kTail;
  if (what < 24) return edit_rows(program, bytes);
  // The head and the keys seldom; numbers of the table lie behind.
  const size_t from = what < 48 || body <= kHead + 40 ? 0 : kHead;
  const size_t at = from + program.place(body - from - 7);
  switch (what % 6) {
    case 0:
      bytes[at] = program.byte();
      break;
    case 1:
      put<uint32_t>(bytes, at, static_cast<uint32_t>(fuzz::extreme_count(program)));
      break;
    case 2:
      put<uint64_t>(bytes, at, fuzz::extreme_count(program));
      break;
    case 3:
    case 4: {
      const double factors[] = {-1.0, 0.0, 0.5, 2.0, 1e3, 1e-3, 1e10, 1e100};
      const int32_t how = program.below(16);
      put<double>(bytes, at,
                  how < 8 ? get<double>(bytes, at) * factors[how] : fuzz::extreme(program));
      break;
    }
    default:
      if (what < 250) {
        put<uint64_t>(bytes, at, get<uint64_t>(bytes, from + program.place(body - from - 7)));
      } else if (program.below(2) == 0) {
        bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), program.byte());
      } else {
        bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(at));
      }
  }
}

// Sets that are accepted merge as sets do.
void check_laws(const Bytes& a, const Bytes& b, const Bytes& c) {
  adapvae_status status[6];
  const Bytes ab = merged(a, b, &status[0]);
  const Bytes ba = merged(b, a, &status[1]);
  FUZZ_CHECK(status[0] == status[1] && ab == ba);
  FUZZ_CHECK(merged(a, a, &status[2]) == a && status[2] == ADAPVAE_OK);
  const Bytes bc = merged(b, c, &status[3]);
  if (status[0] != ADAPVAE_OK || status[3] != ADAPVAE_OK) return;
  const Bytes left = merged(ab, c, &status[4]);
  const Bytes right = merged(a, bc, &status[5]);
  FUZZ_CHECK(status[4] == status[5] && left == right);
}

bool opens(const Bytes& bytes, adapvae_gains* gains) {
  *gains = {};
  gains->struct_size = sizeof *gains;
  adapvae_error error = {};
  error.struct_size = sizeof error;
  const adapvae_status status = adapvae_inspect_gains(bytes.data(), bytes.size(), gains, &error);
  FUZZ_CHECK(status == ADAPVAE_OK || error.message[0] != '\0');
  return status == ADAPVAE_OK;
}

}  // namespace

void fuzz_gains(const uint8_t* data, size_t size) {
  if (size > 1024) return;
  Program program(data, size);
  const uint8_t choice = program.byte();
  const Base& base = bases()[choice % 8];
  Bytes set = base.gains[choice / 8 % kWorkers];
  adapvae_status status = ADAPVAE_OK;
  if ((choice & 128U) != 0) set = merged(set, base.gains[(choice / 8 + 1) % kWorkers], &status);
  for (int32_t left = 1 + program.below(5); left > 0; --left) edit(program, set);
  put_checksum(set);

  adapvae_gains gains;
  if (!opens(set, &gains)) {
    FUZZ_CHECK(adapvae_apply_gains(base.model, set.data(), set.size(), nullptr, 0, nullptr) !=
               ADAPVAE_OK);
    FUZZ_CHECK(fuzz::saved(base.model) == base.bytes);
    return;
  }
  check_laws(set, base.gains[0], base.gains[2]);
  check_laws(base.gains[1], set, base.gains[0]);
  // With honest ones beside it, if they may be.
  if (program.below(2) == 0) {
    const Bytes both = merged(set, base.gains[program.below(kWorkers)], &status);
    if (status == ADAPVAE_OK) {
      set = both;
      FUZZ_CHECK(opens(set, &gains));
    }
  }
  if (gains.born > 4096) return;
  std::vector<adapvae_alias> aliases(static_cast<size_t>(gains.born));
  adapvae_report report = {};
  report.struct_size = sizeof report;
  const adapvae_status applied =
      adapvae_apply_gains(base.model, set.data(), set.size(), aliases.data(), gains.born, &report);
  if (applied != ADAPVAE_OK) {
    FUZZ_CHECK(fuzz::saved(base.model) == base.bytes);
    return;
  }
  ++fuzz_accepted;
  FUZZ_CHECK(std::isfinite(report.bound));
  for (const adapvae_alias& alias : aliases) {
    FUZZ_CHECK(alias.id != ADAPVAE_NO_ID && adapvae_resolve(base.model, alias.id) == alias.id);
  }
  {
    fuzz::Subject subject(base.model);
    if (gains.gains > 0) {
      const adapvae_status again =
          adapvae_apply_gains(base.model, set.data(), set.size(), nullptr, 0, nullptr);
      FUZZ_CHECK(again != ADAPVAE_OK && fuzz::saved(base.model) == subject.bytes());
    }
    for (int i = 0; i < 12 && !program.done(); ++i) (void)subject.call(program);
    subject.call_all();
  }
  // A forgotten time and settings: the base is loaded anew.
  FUZZ_CHECK(adapvae_reset(base.model) == ADAPVAE_OK);
  FUZZ_CHECK(adapvae_load(base.model, base.bytes.data(), base.bytes.size()) == ADAPVAE_OK);
  FUZZ_CHECK(fuzz::saved(base.model) == base.bytes);
}
