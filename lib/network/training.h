// Passes over a block of rows: shuffle, corrupt or augment, step. One epoch at a time, so that the
// caller decides when to stop.
#pragma once

#include "base/go_on.h"
#include "network/augmentation.h"
#include "network/corruption.h"
#include "network/neighbours.h"
#include "network/vae.h"

namespace adapvae {

// Where the encoder puts the rows of a block: [rows × m] each.
struct LatentCodes {
  ConstMatrixView mean;
  ConstMatrixView variance;
};

struct TrainingSettings {
  Index batch = 100;  // rows of a mini-batch, at most the network's max_rows
  CorruptionSettings corruption;
  AugmentationSettings augmentation;
  // Codes of the block's clean rows; empty: none. Responsibilities then come from these, constant
  // in the gradient, rather than from the row as the encoder sees it: corruption teaches the
  // encoder which rows belong together.
  LatentCodes codes;
  // Not null, with pattern.neighbour_weight > 0: half of each mini-batch are rows, the other half a
  // neighbour of each; an epoch then visits half of the rows so.
  const NeighbourGraph* neighbours = nullptr;
  std::uint64_t seed = 0;
  std::uint32_t stream = 0;  // number of the block, for the random numbers
  GoOn go_on;                // asked before each mini-batch; no: the epoch ends there
};

struct EpochReport {
  VaeLoss loss;    // means over the rows
  Index rows = 0;  // that came in mini-batches: fewer than the block has if go_on said no
  std::uint64_t skipped_steps = 0;
};

// Buffers for mini-batches and the order of rows.
class Trainer {
 public:
  // block_rows: most rows of a block.
  void place(Arena& arena, Index block_rows, const VaeConfig& config);

  // One epoch of the objective in `pattern` (mixture, prior_weight, sample) over the rows, in a
  // random order, each seen augmented and corrupted and explained clean. Rows are checked first.
  // pattern.responsibilities must be empty; pattern.latent_target and latent_weight, if there, are
  // those of all rows.
  Status run_epoch(Backend& backend, Vae& vae, const TrainingSettings& settings,
                   std::uint32_t epoch, ConstMatrixView rows, const VaeBatch& pattern,
                   EpochReport* report);

  // One epoch of layer-wise pretraining (stacked denoising autoencoders): encoder layer `level`
  // and its mirror in the decoder learn to rebuild that layer's clean input from its corrupted
  // one; all other layers stay. level 0 rebuilds the rows under the network's likelihood, higher
  // levels their hidden values in the least-squares sense; the last level is the latent mean.
  // report: log_likelihood and loss.
  // After an epoch of either kind the host has the parameters that were learnt.
  Status run_layer_epoch(Backend& backend, Vae& vae, const TrainingSettings& settings, int level,
                         std::uint32_t epoch, ConstMatrixView rows, EpochReport* report);

  // What a device keeps a copy of: the rows of a mini-batch.
  MemoryRange memory() const;

 private:
  Status check(const Vae& vae, const TrainingSettings& settings, ConstMatrixView rows) const;
  template <typename Step>
  Status for_batches(Backend& backend, Vae& vae, const TrainingSettings& settings,
                     std::uint32_t epoch, ConstMatrixView rows, EpochReport* report,
                     const Step& step);
  // The rows of a mini-batch: from the order on, or with their neighbours.
  void choose(const TrainingSettings& settings, std::uint32_t epoch, Index first, Index count);
  // Rows chosen_[count] of `rows`, clean into target_ and changed into input_.
  void gather(Backend& backend, const TrainingSettings& settings, std::uint32_t epoch,
              ConstMatrixView rows, Index count);
  // r_ = responsibilities of the rows chosen, by their codes.
  void responsibilities_of(Backend& backend, const LatentCodes& codes, const MixtureView& mixture,
                           Index count);

  Index block_rows_ = 0;
  Index batch_rows_ = 0;
  Index inputs_ = 0;
  std::uint32_t* order_ = nullptr;   // [block_rows]
  std::uint32_t* chosen_ = nullptr;  // [max_rows]
  float* input_ = nullptr;           // [max_rows × widest]
  float* target_ = nullptr;          // [max_rows × d]
  float* latent_ = nullptr;          // [max_rows × m] targets
  float* weight_ = nullptr;          // [max_rows]
  float* mean_ = nullptr;            // [max_rows × m] codes
  float* variance_ = nullptr;        // [max_rows × m]
  float* r_ = nullptr;               // [max_rows × K]
};

}  // namespace adapvae
