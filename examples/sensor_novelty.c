/* A machine that is watched: learn its healthy state, set the alarm, watch.
 *
 * Raw measurements go in as they are. An alarm is not one novel row but k of the last n: a single
 * stray does not wake anybody. What stays novel is learnt with the next stream, and is then a
 * cluster of its own: the machine's second state has a number, and a third one would get the next.
 */
#include <adapvae/adapvae.h>
#include <stdint.h>
#include <stdio.h>

enum { kChannels = 6, kStream = 300, kVotes = 8, kOf = 10 };

/* A stand-in for a sensor: a common load that moves all channels, and noise. State 1 has other
 * levels in every second channel. */
static uint32_t noise_state = 1;
static float noise(void) {
  float sum = 0.0f;
  for (int i = 0; i < 4; ++i) {
    noise_state = noise_state * 1664525u + 1013904223u;
    sum += (float)(noise_state >> 8) / 8388608.0f - 1.0f;
  }
  return sum;
}
static void measure(int state, float* row) {
  float load = noise();
  for (int c = 0; c < kChannels; ++c) {
    float level = 20.0f + 5.0f * (float)c + (state == 1 ? 9.0f * (float)(c % 2) : 0.0f);
    row[c] = level + 0.5f * (float)(c + 1) * load + 0.8f * noise();
  }
}

static int fail(adapvae_model* model) {
  adapvae_error error = {.struct_size = sizeof error};
  adapvae_last_error(model, &error);
  fprintf(stderr, "%s: %s\n", adapvae_status_name(error.status), error.message);
  adapvae_destroy(model);
  return 1;
}

int main(void) {
  adapvae_config config;
  adapvae_config_init(&config, sizeof config);
  config.inputs = kChannels;
  config.latent = 4;
  config.hidden1 = 32;
  config.hidden2 = 0;
  config.likelihood = 1;   /* measurements, not numbers in [0, 1] … */
  config.scale_inputs = 1; /* … in units of their own */
  config.block_rows = kStream;
  config.max_clusters = 12;
  config.false_alarm_rate = 0.01;
  adapvae_model* model = NULL;
  adapvae_error error = {.struct_size = sizeof error};
  if (adapvae_create(&config, NULL, &model, &error) != ADAPVAE_OK) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }

  /* 1. learn the healthy state */
  static float rows[kStream][kChannels];
  for (int stream = 0; stream < 3; ++stream) {
    for (int i = 0; i < kStream; ++i) measure(0, rows[i]);
    if (adapvae_learn(model, rows[0], kStream, 0, NULL) != ADAPVAE_OK) return fail(model);
  }

  /* 2. calibrate on rows that were not learnt: fewer alarms if there are too many */
  adapvae_result result;
  for (double sensitivity = 1.0;; sensitivity *= 0.7) {
    if (adapvae_set_sensitivity(model, sensitivity) != ADAPVAE_OK) return fail(model);
    int novel = 0;
    for (int i = 0; i < kStream; ++i) {
      float row[kChannels];
      measure(0, row);
      if (adapvae_score(model, row, 1, 0, &result) != ADAPVAE_OK) return fail(model);
      novel += result.novelty > 0.5f;
    }
    printf("sensitivity %.2f: %d of %d healthy rows novel\n", sensitivity, novel, kStream);
    if (novel <= kStream / 50) break;
  }

  /* 3. watch: after 600 rows the machine changes */
  int votes[kOf] = {0}, sum = 0, alarm_at = -1;
  adapvae_event event = {.struct_size = sizeof event};
  for (int tick = 0; tick < 1200; ++tick) {
    float row[kChannels];
    measure(tick >= 600, row);
    if (adapvae_score(model, row, 1, 0, &result) != ADAPVAE_OK) return fail(model);
    sum -= votes[tick % kOf];
    sum += votes[tick % kOf] = result.novelty > 0.5f;
    if (sum >= kVotes && alarm_at < 0) {
      alarm_at = tick;
      printf("row %d: alarm, %d of the last %d rows are novel\n", tick, sum, kOf);
    }
    if (adapvae_push(model, row, 1, 0, NULL) != ADAPVAE_OK) return fail(model);
    while (adapvae_next_event(model, &event) == ADAPVAE_OK) {
      char text[256];
      if (tick > 0 && event.type == ADAPVAE_BORN &&
          adapvae_event_text(&event, ADAPVAE_TEXT, text, sizeof text, NULL) == ADAPVAE_OK) {
        printf("row %d: %s\n", tick, text);
      }
    }
  }
  float row[kChannels];
  measure(1, row);
  char text[1024];
  adapvae_score(model, row, 1, 0, &result);
  if (adapvae_explain(model, row, ADAPVAE_TEXT, text, sizeof text, NULL) == ADAPVAE_OK) puts(text);
  adapvae_destroy(model);
  /* the change was seen at once, not before, and is known now */
  return alarm_at >= 600 && alarm_at < 630 && result.novelty < 0.5f ? 0 : 1;
}
