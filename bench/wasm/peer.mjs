// The same network by TensorFlow.js: a VAE with a standard normal prior, Bernoulli outputs, Adam.
import * as tf from '@tensorflow/tfjs';
import { setWasmPaths } from '@tensorflow/tfjs-backend-wasm';

export async function start(files) {
  setWasmPaths(files);
  if (!(await tf.setBackend('wasm'))) throw new Error('no wasm backend');
  await tf.ready();
  return `${tf.getBackend()} ${tf.version_core ?? ''} simd ${await tf.env().getAsync('WASM_HAS_SIMD_SUPPORT')} threads ${await tf.env().getAsync('WASM_HAS_MULTITHREAD_SUPPORT')}`;
}

export function network([inputs, hidden1, hidden2, latent, batch]) {
  const layer = (from, to) => ({
    weight: tf.variable(tf.randomNormal([from, to], 0, Math.sqrt(2 / from))),
    bias: tf.variable(tf.zeros([to])),
  });
  const layers = {
    first: layer(inputs, hidden1),
    second: layer(hidden1, hidden2),
    heads: layer(hidden2, 2 * latent),
    third: layer(latent, hidden2),
    fourth: layer(hidden2, hidden1),
    output: layer(hidden1, inputs),
  };
  const dense = (x, { weight, bias }, activation) => tf.fused.matMul({ a: x, b: weight, bias, activation });
  const encode = (x) => {
    const heads = dense(dense(dense(x, layers.first, 'relu'), layers.second, 'relu'), layers.heads, 'linear');
    return tf.split(heads, 2, 1);
  };
  const loss = (x) => {
    const [mean, logVariance] = encode(x);
    const noise = tf.randomNormal([batch, latent]);
    const z = mean.add(logVariance.mul(0.5).exp().mul(noise));
    const logits = dense(dense(dense(z, layers.third, 'relu'), layers.fourth, 'relu'), layers.output, 'linear');
    // max(a, 0) - a x + log(1 + e^-|a|), written with operations that have gradients there.
    const negative = tf.relu(logits).mul(2).sub(logits).neg();
    const cross = tf.relu(logits).sub(logits.mul(x)).add(negative.exp().add(1).log());
    const kl = logVariance.add(1).sub(mean.square()).sub(logVariance.exp()).mul(-0.5);
    return cross.sum().add(kl.sum()).div(batch);
  };
  // The same encoder as its users would write it.
  const dense1 = (units, activation, rest = {}) => tf.layers.dense({ units, activation, ...rest });
  const model = tf.sequential({
    layers: [dense1(hidden1, 'relu', { inputShape: [inputs] }), dense1(hidden2, 'relu'), dense1(2 * latent, 'linear')],
  });
  const optimiser = tf.train.adam(0.001);
  const batches = Array.from({ length: 10 }, () => tf.randomUniform([batch, inputs]));
  let step = 0;
  return {
    steps(count) {
      for (let i = 0; i < count; ++i) optimiser.minimize(() => loss(batches[step++ % 10]));
      layers.output.bias.dataSync(); // all of it is done by now
    },
    loss: () => tf.tidy(() => loss(batches[0]).dataSync()[0]),
    // The features of one row, as numbers: by its layers, and by its fused operations, which is faster.
    predict(values) {
      return tf.tidy(() => model.predict(tf.tensor2d(values, [1, inputs])).dataSync());
    },
    row(values) {
      return tf.tidy(() => encode(tf.tensor2d(values, [1, inputs]))[0].dataSync());
    },
  };
}
