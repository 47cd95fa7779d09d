// One row per field of Configuration, in its order. A message is a literal put together by the
// preprocessor, so that a Status can carry it: bounds are written as they should be read.
#include "model/configuration.h"

namespace adapvae {
namespace {

[[maybe_unused]] constexpr const char* kNetwork = "Network";
[[maybe_unused]] constexpr const char* kRoom = "Room";
[[maybe_unused]] constexpr const char* kTraining = "Training";
[[maybe_unused]] constexpr const char* kImages = "Images";
[[maybe_unused]] constexpr const char* kReplay = "Replay";
[[maybe_unused]] constexpr const char* kMixture = "Mixture";
[[maybe_unused]] constexpr const char* kMoves = "Births and merges";
[[maybe_unused]] constexpr const char* kKinds = "Kinds";
[[maybe_unused]] constexpr const char* kForgetting = "Forgetting";
[[maybe_unused]] constexpr const char* kNovelty = "Novelty";

constexpr bool kLive = true;
constexpr bool kFrozen = false;

constexpr double last_choice(std::string_view choices) {
  double last = 0.0;
  for (const char c : choices) last += c == ' ' ? 1.0 : 0.0;
  return last;
}

#if defined(ADAPVAE_STRIP_STRINGS)
#define ADAPVAE_TEXTS(group, field, sentence, takes)
#else
#define ADAPVAE_TEXTS(group, field, sentence, takes)                  \
  , group, sentence, #field " must be " takes,                        \
      "no configuration field has that name; the nearest is " #field, \
      "the snapshot is of a model with another " #field
#endif
#define ADAPVAE_FIELD(group, field, type, lowest, highest, choices, live, sentence, takes) \
  FieldInfo {                                                                              \
    lowest, highest, #field, choices, offsetof(Configuration, field), type,                \
        sizeof(Configuration::field), live ADAPVAE_TEXTS(group, field, sentence, takes)    \
  }
#define INTEGER(group, field, lowest, highest, live, sentence)                          \
  ADAPVAE_FIELD(group, field, FieldType::kInteger, lowest, highest, "", live, sentence, \
                "a whole number from " #lowest " to " #highest)
#define REAL(group, field, lowest, highest, live, sentence)                          \
  ADAPVAE_FIELD(group, field, FieldType::kReal, lowest, highest, "", live, sentence, \
                "a number from " #lowest " to " #highest)
#define SWITCH(group, field, live, sentence) \
  ADAPVAE_FIELD(group, field, FieldType::kSwitch, 0, 1, "off on", live, sentence, "on or off")
#define CHOICE(group, field, choices, live, sentence)                                     \
  ADAPVAE_FIELD(group, field, FieldType::kChoice, 0, last_choice(choices), choices, live, \
                sentence, "one of: " choices)

constexpr FieldInfo kFields[] = {
    INTEGER(kNetwork, inputs, 1, 1048576, kFrozen, "Numbers in a row. Must be given."),
    INTEGER(kNetwork, latent, 1, 1024, kFrozen,
            "Features that the network learns; the mixture clusters these."),
    INTEGER(kNetwork, hidden1, 0, 1048576, kFrozen,
            "Width of the encoder's first hidden layer, mirrored in the decoder; 0: none."),
    INTEGER(kNetwork, hidden2, 0, 1048576, kFrozen, "Width of the second; 0: none."),
    INTEGER(kNetwork, hidden3, 0, 1048576, kFrozen, "Width of the third; 0: none."),
    INTEGER(kNetwork, hidden4, 0, 1048576, kFrozen, "Width of the fourth; 0: none."),
    CHOICE(kNetwork, scale_inputs, "off standardise", kFrozen,
           "standardise: inputs are measured in standard deviations from the first block's mean. "
           "Beyond 5 they are compressed. If the range changes they are scaled anew. For a "
           "gaussian likelihood."),
    SWITCH(
        kNetwork, missing_values, kFrozen,
        "NaN stands for a missing value: it is filled with what the model expects there, and does "
        "not count. off: rows with NaN are refused."),
    CHOICE(kNetwork, likelihood, "bernoulli gaussian gaussian_learned", kFrozen,
           "How the decoder explains a row: bernoulli for numbers in [0, 1], gaussian for others, "
           "with one variance for all inputs or a learnt one for each."),
    REAL(kNetwork, likelihood_variance, 1e-6, 1e6, kFrozen,
         "Variance of an input around what the decoder says (gaussian)."),
    CHOICE(kNetwork, activation, "linear relu leaky_relu tanh sigmoid softplus", kFrozen,
           "Activation of the hidden layers."),
    CHOICE(kNetwork, initialisation, "he xavier", kFrozen,
           "How weights are first drawn: he for relu and leaky_relu, xavier for the others."),

    CHOICE(kRoom, covariance, "full diagonal", kFrozen,
           "Shape of a cluster; diagonal takes less memory and misses tilted clusters."),
    INTEGER(kRoom, max_clusters, 1, 65536, kFrozen, "Clusters that there is room for."),
    INTEGER(kRoom, block_rows, 1, 1048576, kFrozen, "Most rows of a stream."),
    INTEGER(kRoom, pass_rows, 1, 1048576, kFrozen,
            "Rows that go through the network at once. More take memory and give the same result."),
    INTEGER(kRoom, replay_rows, 0, 134217728, kFrozen,
            "Room for replay rows; 0: replay_ratio times block_rows. More lets replay_ratio be "
            "raised later."),
    INTEGER(kRoom, pending_rows, 0, 1048576, kFrozen,
            "Far-out rows that may wait for others of their kind; 0: no past row is ever stored."),
    INTEGER(kRoom, aliases, 0, 1048576, kFrozen,
            "Merged clusters whose ids are still answered for."),
    INTEGER(kRoom, undo_steps, 0, 64, kFrozen, "Corrections that can be undone."),
    INTEGER(kRoom, events, 0, 1048576, kFrozen,
            "Events that are kept until they are read; then the oldest are overwritten."),
    SWITCH(kRoom, restore_on_failure, kFrozen,
           "A stream that fails half-way, because a device does, leaves the model as it was, for "
           "the memory of the network's parameters once more. off: then only a reset helps."),
    INTEGER(kRoom, seed, 0, 9007199254740992, kFrozen,
            "The same seed and calls give the same model, byte for byte."),

    INTEGER(kTraining, batch, 1, 1048576, kLive, "Rows of a step of the network's training."),
    INTEGER(kTraining, pretrain_epochs, 0, 100000, kFrozen,
            "Epochs of reconstruction alone on the first stream."),
    INTEGER(kTraining, adapt_epochs, 0, 100000, kLive,
            "Epochs of reconstruction alone on later streams, before births."),
    INTEGER(kTraining, joint_epochs, 0, 100000, kLive,
            "Epochs of a stream with the mixture as prior."),
    INTEGER(kTraining, sweeps, 1, 10000, kLive, "Laps of the mixture after each joint epoch."),
    INTEGER(kTraining, freeze_encoder_after, 0, 2147483647, kLive,
            "After so many streams the network stays as it is and the mixture alone learns; "
            "0: never."),
    INTEGER(kTraining, neighbour_epochs, 0, 100000, kFrozen,
            "Epochs of the neighbour embedding on the first stream, after pretraining."),
    REAL(kTraining, neighbour_weight, 0, 1e6, kFrozen,
         "How firmly rows that lie next to each other are then drawn together, for 784 inputs "
         "(fewer: "
         "less, in proportion); 0: not at all."),
    REAL(kTraining, learning_rate, 1e-8, 1, kLive, "Step size of the network's training (Adam)."),
    REAL(kTraining, prior_weight, 0, 1e6, kLive,
         "Weight of the mixture in the network's loss; 0: inputs / 784."),
    REAL(
        kTraining, pretrain_mask_probability, 0, 0.99, kLive,
        "Part of the inputs that is hidden from the encoder while it learns reconstruction alone."),
    REAL(kTraining, pretrain_noise, 0, 1e6, kLive,
         "Deviation of noise that is added to the inputs then."),
    REAL(kTraining, joint_mask_probability, 0, 0.99, kLive,
         "Part of the inputs that is hidden from the encoder in joint epochs."),
    REAL(kTraining, joint_noise, 0, 1e6, kLive,
         "Deviation of noise that is added to the inputs then."),

    INTEGER(kImages, image_width, 0, 65536, kFrozen,
            "Width of rows that are images; 0: they are not."),
    INTEGER(kImages, image_height, 0, 65536, kFrozen,
            "Height of rows that are images; 0: they are not."),
    INTEGER(kImages, image_channels, 1, 1024, kFrozen, "Planes of an image, one after the other."),
    SWITCH(kImages, augment, kLive,
           "Show the encoder images that are moved and bent a little, at random."),
    REAL(kImages, augment_shift, 0, 1000, kLive,
         "They are shifted by up to so many pixels each way."),
    REAL(kImages, augment_rotation, 0, 3.1416, kLive,
         "They are turned by up to so many radians each way."),
    REAL(kImages, augment_scale, 0, 0.9, kLive,
         "They are made larger or smaller by up to this part."),
    REAL(kImages, augment_shear, 0, 10, kLive, "They are sheared by up to this slope each way."),

    REAL(kReplay, replay_ratio, 0, 100, kLive,
         "Rows drawn from the clusters for each new row, so that the network does not forget; "
         "0: no replay."),
    REAL(kReplay, replay_balance, 0, 1, kLive,
         "1: large clusters are drawn in proportion to their rows; 0: all are drawn alike."),
    REAL(kReplay, replay_radius, 0.1, 100, kLive,
         "Draws lie within so many deviations of their cluster."),
    SWITCH(kReplay, replay_filter, kLive,
           "Drop draws that the network itself would put into another cluster."),
    CHOICE(
        kReplay, drift, "off shift affine two_stage", kLive,
        "How clusters follow when training moves the features: where they lie, and (affine) what "
        "shape they have. two_stage: births are first judged by clusters as narrow as replay "
        "makes them."),
    REAL(kReplay, distillation, 0, 1e6, kLive,
         "How firmly training keeps the features of replay rows where they were."),
    CHOICE(
        kReplay, replay_in_fit, "off fit counted", kFrozen,
        "fit: replay rows stand beside the new ones while clusters are fitted, and are taken out "
        "before the stream closes. counted: they stay, as if they had come."),

    CHOICE(kMixture, prior_mode, "scaled empirical fitted", kFrozen,
           "Covariance that a new cluster is expected to have. scaled: a fraction of the first "
           "block's variance. empirical: from the second block on, the mean covariance of all "
           "clusters. fitted: the same, but in the first block it is estimated together with the "
           "clusters, which finds more of them."),
    SWITCH(kMixture, learn_concentration, kLive,
           "Learn the concentration from the data, around the one given."),
    REAL(kMixture, prior_scale, 1e-6, 1e6, kFrozen,
         "A cluster's variance as a part of the first stream's."),
    REAL(kMixture, prior_beta, 1e-9, 1e6, kLive,
         "How firmly the place of a new cluster is expected, in rows; with prior_mode=fitted at "
         "most."),
    REAL(kMixture, prior_strength, 1.1, 1e9, kLive,
         "How firmly the shape of a new cluster is expected, in rows (empirical)."),
    REAL(kMixture, concentration, 1e-6, 1e6, kLive, "Higher: more clusters are expected."),
    REAL(kMixture, row_weight, 1e-6, 1, kLive,
         "What a row counts as evidence; below 1 for features far from Gaussian."),
    REAL(kMixture, effective_rows, 0, 1e12, kLive,
         "A stream counts as at most so many rows of evidence: more divide clusters finer; "
         "0: as many as it has."),
    REAL(kMixture, effective_part, 0, 1, kLive,
         "But a row of it counts at least this much: a long stream shows finer kinds."),

    INTEGER(kMoves, laps, 1, 10000, kLive, "Laps of the mixture between moves, at most."),
    INTEGER(kMoves, rounds, 0, 10000, kLive, "Rounds of births and merges in a stream, at most."),
    SWITCH(kMoves, divisions, kLive,
           "Divide clusters by evidence that is gathered over several streams."),
    SWITCH(kMoves, merge_old_with_new, kLive,
           "Let a cluster born in this stream merge with an older one."),
    SWITCH(kMoves, unexplained_births, kLive,
           "Births from rows that no cluster explained when they came."),
    REAL(kMoves, birth_novelty, 0, 1, kLive,
         "A cluster is born out of an old one that has seen 1000 rows if clearly more than this "
         "part of its rows was novel when they came, by three deviations: else it is a style of "
         "what is known. Divisions are free of that; 0: so is everything."),
    INTEGER(kMoves, hysteresis_streams, 0, 1000000, kLive,
            "For so many streams a merged cluster is not parted again …"),
    REAL(kMoves, hysteresis_growth, 1, 1e6, kLive, "… unless it has grown by this factor."),
    REAL(kMoves, pending_part, 0.5, 0.999999, kLive,
         "Rows farther out than this part of a cluster's own wait, if pending_rows gives room."),
    INTEGER(kMoves, pending_streams, 1, 1000000, kLive, "For so many streams a row may wait."),

    SWITCH(
        kKinds, kinds, kLive,
        "Components whose rows cannot be told apart are one cluster; else each is a cluster of its "
        "own."),
    REAL(kKinds, kind_resolution, 0.01, 100, kLive,
         "Components are one cluster if the density of rows hardly falls between them. Higher: a "
         "smaller fall parts them, and there are more and smaller clusters."),

    REAL(kForgetting, half_life_rows, 0, 1e15, kLive,
         "The past counts half after so many rows; 0: it does not fade."),
    REAL(kForgetting, half_life_time, 0, 1e15, kLive,
         "The past counts half after so much time, in the unit of the times given; 0: it does not "
         "fade."),

    REAL(kNovelty, false_alarm_rate, 1e-6, 0.5, kLive,
         "Part of ordinary rows that may be called novel."),
    REAL(kNovelty, sensitivity, 0.001, 1000, kLive,
         "Above 1 more is called novel, below 1 less; a factor of 2.7 moves the boundary by a "
         "deviation."),
    REAL(kNovelty, novelty_error_weight, 0, 100, kFrozen,
         "What the decoder cannot account for in a row, beside what its features say; 0: features "
         "alone, and scoring, which then need not decode, is up to twice as fast."),
};

}  // namespace

std::span<const FieldInfo> configuration_fields() { return kFields; }

}  // namespace adapvae
