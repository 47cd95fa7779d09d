// The variational autoencoder: encoder, latent sample, decoder, its loss under a mixture prior and
// the gradient of that loss. Equation numbers refer to docs/math.md.
//
//   x ─encoder─► heads [n × 2m] = mean | log-variance ─sample─► z ─decoder─► output ─► log p(x|z)
//                       └────────────► mixture term, entropy (closed form, eq. 3)
//
// All memory comes from one arena at place(); afterwards nothing allocates:
//
//   | layer outputs of encoder | of decoder | parameters | variance | z | row values | distances |
//   and, if trainable,
//   | Adam 1st | Adam 2nd | gradients | ping | pong | noise | dz | pull | precision | dheads |
//
// Parameters, gradients and moments have one flat layout: encoder layers, then decoder layers.
//
// It does not know where rows come from, how the mixture is learnt, or when to stop.
#pragma once

#include "base/philox.h"
#include "compute/limits.h"
#include "network/mixture_view.h"
#include "network/mlp.h"
#include "network/optimiser.h"

namespace adapvae {

struct VaeConfig {
  Index inputs = 0;               // d
  Index latent = 0;               // m
  int hidden_layers = 0;          // 0..kMaxLayers-1, mirrored in the decoder
  Index hidden[kMaxLayers] = {};  // widths from the input side
  Activation activation = Activation::kRelu;
  Initialisation initialisation = Initialisation::kHe;
  LikelihoodSettings likelihood;
  LogVarianceClamp log_variance;
  Index max_rows = 0;          // rows of the largest batch
  Index max_clusters = 1;      // clusters of the largest mixture
  bool trainable = true;       // false: no gradients, moments or backward buffers
  bool own_parameters = true;  // false: borrow_parameters() says where they are; not trainable
};

// ok if every number is in bounds; otherwise names the first that is not.
Status check_config(const VaeConfig& config);

// Shapes that the backend must be ready for.
ComputeLimits compute_limits(const VaeConfig& config);

struct VaeBatch {
  ConstMatrixView input;   // [n × d] what the encoder sees (perhaps corrupted)
  ConstMatrixView target;  // [n × d] what the decoder must explain (clean)
  MixtureView mixture;     // prior of z
  // [n × K] fixed responsibilities; empty: computed from this pass, eq. 2.
  ConstMatrixView responsibilities;
  // Distillation: rows whose latent mean is to stay where it was. [n × m] and its weight λ per row
  // [n]; empty: none.
  ConstMatrixView latent_target;
  const float* latent_weight = nullptr;
  // > 0: rows i and i + n/2 are neighbours, eq. 17, with this weight.
  float neighbour_weight = 0.0F;
  float prior_weight = 1.0F;  // b: weight of mixture term and entropy; 0 = plain autoencoder
  bool sample = true;         // z = mean + σ·noise; false: z = mean
  // Noise of row i comes from noise_key with index row_id[i] (or i if null), so it does not depend
  // on how rows were batched.
  RandomKey noise_key = {.purpose = RandomPurpose::kLatentNoise};
  const std::uint32_t* row_id = nullptr;  // [n]
};

// Means over the rows of a batch; loss = -(log_likelihood + b · (mixture + entropy)) +
// distillation + weight · neighbours.
struct VaeLoss {
  double log_likelihood = 0.0;
  double mixture = 0.0;       // Σ_k r (log ρ - log r)
  double entropy = 0.0;       // ½ Σ_d (1 + log 2π + l)
  double distillation = 0.0;  // λ |μ - target|²
  double neighbours = 0.0;    // per pair
  double loss = 0.0;
};

class Vae {
 public:
  // config must have passed check_config.
  void place(Arena& arena, const VaeConfig& config);
  // The same in three parts. place_moments() is for memory that may be another's until the
  // optimiser is reset, place_gradient() for memory that may be another's before and after every
  // call.
  void place_lasting(Arena& arena, const VaeConfig& config);
  void place_moments(Arena& arena);
  void place_gradient(Arena& arena);
  // Draws all parameters; the log-variance head starts small, so that σ² starts near 1.
  void initialise(std::uint64_t seed);

  // Parameters that are not this object's and never change: in flash, in a mapped file.
  void borrow_parameters(const float* parameters) { parameters_ = const_cast<float*>(parameters); }

  const VaeConfig& config() const { return config_; }
  Index parameter_count() const { return encoder_.parameter_count() + decoder_.parameter_count(); }
  // To be written: a device takes them over at the next call. To read them after train_step(), call
  // fetch_parameters() first.
  float* parameters() {
    parameters_changed_ = true;
    return parameters_;
  }
  const float* parameters() const { return parameters_; }
  // What a device keeps a copy of: all memory taken at place().
  MemoryRange memory() const;
  // Parameters that were written go to the backend; those that it has learnt come back.
  void send_parameters(Backend& backend);
  void fetch_parameters(Backend& backend) {
    if (!parameters_changed_) backend.fetch(parameters_, parameter_count());
  }
  const float* gradients() const { return gradients_; }
  Mlp& encoder() { return encoder_; }
  Mlp& decoder() { return decoder_; }
  const Mlp& encoder() const { return encoder_; }
  const Mlp& decoder() const { return decoder_; }
  Optimiser& optimiser() { return optimiser_; }
  const Optimiser& optimiser() const { return optimiser_; }

  // All of these reject rows of a wrong shape or with a non-finite number before anything changes.

  // Loss and its gradient (into gradients()); parameters unchanged.
  Status compute_gradient(Backend& backend, const VaeBatch& batch, VaeLoss* loss);
  // The loss alone.
  Status compute_loss(Backend& backend, const VaeBatch& batch, VaeLoss* loss);
  // compute_gradient and one step of Adam. A non-finite loss or gradient skips the step (see
  // Optimiser) and is not an error.
  Status train_step(Backend& backend, const VaeBatch& batch, VaeLoss* loss, StepReport* report);
  // One step of Adam with the gradients that are there, on these ranges of the parameters.
  StepReport step(Backend& backend, double loss, std::span<const ParameterRange> ranges) {
    return optimiser_.step(backend, loss, parameters_, gradients_, ranges);
  }

  // Gives the latent means this mean and deviation 0 and 1 (each [m], deviation > 0) without
  // changing what the network does: mean and log-variance heads and the decoder's first layer take
  // the scale up. Adam's moments start afresh.
  void standardise_latent(const double* mean, const double* deviation);
  // The variance of each feature [m], the same for all rows until training says otherwise.
  void start_variance(const double* variance);

  // mean and variance [n × m]; variance may be empty.
  // Both are within kLargestFeature, whatever the network does with x.
  Status encode(Backend& backend, ConstMatrixView x, MatrixView mean, MatrixView variance);
  // The decoder's mean of x given z, in the units of the input [n × d].
  Status decode(Backend& backend, ConstMatrixView z, MatrixView x);
  // The decoder's output for z in its units, [n × d] and perhaps more columns, valid until the next
  // call: logits or means, bounded by nothing.
  Status decode_raw(Backend& backend, ConstMatrixView z, ConstMatrixView* output);
  // log p(x | z) of each row [n].
  Status log_likelihood(Backend& backend, ConstMatrixView z, ConstMatrixView x, float* out);
  // Whether every weight is within kLargestWeight.
  bool sound() const;
  // decode(mean of encode(x)).
  Status reconstruct(Backend& backend, ConstMatrixView x, MatrixView out);

  // Buffers that training code may borrow between two calls of the above.
  struct Scratch {
    float* ping;
    float* pong;
    float* row_value;
    float* gradients;
  };
  Scratch scratch() { return {ping_, pong_, row_value_, gradients_}; }

 private:
  Status check_batch(const VaeBatch& batch) const;
  VaeLoss forward(Backend& backend, const VaeBatch& batch, bool want_gradient);
  void backward(Backend& backend, const VaeBatch& batch);
  double mixture_term(Backend& backend, const VaeBatch& batch);
  void draw_noise(const VaeBatch& batch);
  static void bound_codes(Backend& backend, MatrixView codes, float low);
  void output_mean(ConstMatrixView output, MatrixView x) const;

  VaeConfig config_;
  Mlp encoder_;
  Mlp decoder_;
  Optimiser optimiser_;
  float* parameters_ = nullptr;
  bool parameters_changed_ = true;  // by the host, since a backend saw them
  float* gradients_ = nullptr;
  float* ping_ = nullptr;       // [rows × widest]
  float* pong_ = nullptr;       // [rows × widest]
  float* noise_ = nullptr;      // [rows × m]
  float* z_ = nullptr;          // [rows × m]
  float* variance_ = nullptr;   // [rows × m]
  float* dz_ = nullptr;         // [rows × m]
  float* pull_ = nullptr;       // [rows × m]
  float* precision_ = nullptr;  // [rows × m]
  float* dheads_ = nullptr;     // [rows × 2m]
  float* distance_ = nullptr;   // [rows × K], then the responsibilities
  float* row_value_ = nullptr;  // [rows]
};

}  // namespace adapvae
