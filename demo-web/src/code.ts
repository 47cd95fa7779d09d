/** The page's settings as programs. Each scores a row before it learns it, as the page does. */
import type { Options } from 'adapvae';

export interface Program {
  language: string;
  /** Of the file that it goes into. */
  file: string;
  text: string;
}

type Value = Options[keyof Options];

const lines = (options: Options, line: (name: string, value: Value) => string): string =>
  Object.entries(options)
    .map(([name, value]) => line(name, value as Value))
    .join('\n');

const range = (options: Options): string => (options.scale_inputs === 'standardise' ? 'any numbers' : 'each number in [0, 1]');

function c(inputs: number, { preset, ...fields }: Options): string {
  return `/* Float32 rows on standard input, a line of "id novelty" for each on standard output.
 * cc watch.c $(pkg-config --cflags --libs adapvae) -o watch */
#include <adapvae/adapvae.h>
#include <stdio.h>

enum { INPUTS = ${inputs} }; /* ${range(fields)} */

static int fail(const char* message) {
  fprintf(stderr, "%s\\n", message);
  return 1;
}

int main(void) {
  adapvae_error error = {.struct_size = sizeof error};
  adapvae_config config;
  adapvae_config_init(&config, sizeof config);
${preset ? `  if (adapvae_config_preset(&config, "${preset}", &error) != ADAPVAE_OK)\n    return fail(error.message);\n` : ''}  static const char* const fields[][2] = {
${lines(fields, (name, value) => `      {"${name}", "${typeof value === 'boolean' ? (value ? 'on' : 'off') : value}"},`)}
  };
  for (size_t i = 0; i < sizeof fields / sizeof *fields; ++i) {
    if (adapvae_config_set(&config, fields[i][0], fields[i][1], &error) != ADAPVAE_OK)
      return fail(error.message);
  }
  adapvae_model* model = NULL;
  if (adapvae_create(&config, NULL, &model, &error) != ADAPVAE_OK)
    return fail(error.message);

  static float row[INPUTS];
  while (fread(row, sizeof row, 1, stdin) == 1) {
    adapvae_result result;
    /* asked before it is learnt */
    adapvae_status status = adapvae_score(model, row, 1, 0, &result);
    if (status == ADAPVAE_OK) status = adapvae_push(model, row, 1, 0, NULL);
    if (status != ADAPVAE_OK) {
      adapvae_last_error(model, &error);
      return fail(error.message);
    }
    printf("%u %.3f\\n", result.id, result.novelty); /* novel if above 0.5 */
  }
  adapvae_destroy(model);
  return 0;
}
`;
}

function cpp(inputs: number, { preset, ...fields }: Options): string {
  return `// c++ -std=c++20 watch.cpp $(pkg-config --cflags --libs adapvae) -o watch
#include <adapvae/adapvae.hpp>
#include <cstdio>
#include <exception>
#include <vector>

int main() try {
  adapvae::Config config${preset ? `("${preset}")` : ''};
${lines(fields, (name, value) => `  config.set("${name}", "${typeof value === 'boolean' ? (value ? 'on' : 'off') : value}");`)}
  adapvae::Model model(config);

  std::vector<float> row(${inputs});  // ${range(fields)}
  while (std::fread(row.data(), sizeof(float), row.size(), stdin) == row.size()) {
    const adapvae_result result = model.score(row).front();  // before it is learnt
    model.push(row);
    std::printf("%u %.3f\\n", result.id, result.novelty);  // novel if above 0.5
  }
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\\n", error.what());
  return 1;
}
`;
}

function python(inputs: number, options: Options): string {
  const text = (value: Value): string => (typeof value === 'boolean' ? (value ? 'True' : 'False') : JSON.stringify(value));
  return `import numpy as np
from adapvae import AdapVAE

model = AdapVAE(
${lines(options, (name, value) => `    ${name}=${text(value)},`)}
)
streams = [np.load("rows.npy").astype(np.float32)]  # yours: ${inputs} columns, ${range(options)}
for rows in streams:
    novelty = model.novelty(rows)  # before they are learnt; novel if above 0.5
    model.partial_fit(rows)
    ids = model.predict(rows)
    print(len(set(ids)), "clusters,", int((novelty > 0.5).sum()), "rows were novel")
model.save("model.safetensors")
`;
}

function javascript(inputs: number, options: Options): string {
  return `import { AdapVAE } from 'adapvae'; // 'adapvae/worker': the same in a worker, with promises

const model = await AdapVAE.create({
${lines(options, (name, value) => `  ${name}: ${typeof value === 'string' ? `'${value}'` : value},`)}
});

/** A stream: a Float32Array, ${inputs} numbers a row, ${range(options)}. */
export function watch(rows) {
  const { novelty } = model.score(rows); // before they are learnt; novel if above 0.5
  const report = model.learn(rows);
  const { id } = model.score(rows);
  return { novelty, id, born: report.births, clusters: report.clusters };
}
`;
}

export function programs(inputs: number, options: Options): Program[] {
  return [
    { language: 'C', file: 'watch.c', text: c(inputs, options) },
    { language: 'C++', file: 'watch.cpp', text: cpp(inputs, options) },
    { language: 'Python', file: 'watch.py', text: python(inputs, options) },
    { language: 'JavaScript', file: 'watch.mjs', text: javascript(inputs, options) },
  ];
}
