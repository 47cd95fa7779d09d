// A model under test: one call of the C API after another, chosen by a program, and after each what
// must hold of every model. A call that failed has changed no byte, what was saved loads and is
// then the same, and no number that comes out is infinite or not a number.
#pragma once

#include "adapvae/adapvae.h"
#include "program.h"

namespace fuzz {

// Memory of models, counted; refuses what is beyond kMostMemory.
struct Memory {
  static constexpr size_t kMost = 8U << 20U;
  size_t asked = 0;
  int fill = 0xFF;
  adapvae_options options();
};

Bytes saved(const adapvae_model* model);  // empty: a scorer
// One JSON value, and nothing else.
bool is_json(const char* text);

class Subject {
 public:
  // The model is borrowed. It must not be a scorer.
  explicit Subject(adapvae_model* model);
  ~Subject();
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;

  // One call, with what must hold after it.
  adapvae_status call(Program& program);
  // Every call that changes nothing, once, and one that learns.
  void call_all();
  // What must hold of a model at any time.
  void check();
  const Bytes& bytes() const { return bytes_; }
  // Bytes were changed by others.
  void refresh();

 private:
  adapvae_status make_call(Program& program);
  adapvae_status learn(Program& program, bool both);
  adapvae_status score(const std::vector<float>& rows, int32_t count);
  adapvae_status features(Program& program);
  adapvae_status explain(const std::vector<float>& row);
  adapvae_status correct(Program& program);
  adapvae_status set(Program& program);
  adapvae_status gain(Program& program);
  adapvae_status copies(Program& program);
  void check_clusters() const;
  void check_events();
  adapvae_id id(Program& program) const;

  adapvae_model* model_;
  adapvae_model* twin_ = nullptr;  // loads what was saved
  int32_t inputs_ = 0;
  int32_t latent_ = 0;
  int32_t block_rows_ = 0;
  bool restores_ = true;
  bool undone_ = false;
  Memory memory_;
  Bytes bytes_;
};

}  // namespace fuzz
