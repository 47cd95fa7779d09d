// A question that long work asks between its pieces: go on, or end here?
#pragma once

namespace adapvae {

// Without a function the answer is always yes.
struct GoOn {
  bool (*ask)(void* context) = nullptr;
  void* context = nullptr;

  bool operator()() const { return ask == nullptr || ask(context); }
};

}  // namespace adapvae
