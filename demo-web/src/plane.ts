/** The plane of the map: two directions of the features, and the way from a place on it back to features. */
import type { Moments } from 'adapvae';

export interface Plane {
  middle: Float64Array;
  /** A place is the product of these with a point's features … */
  axes: [Float64Array, Float64Array];
  /** … and its features are the middle and so much of these. */
  back: [Float64Array, Float64Array];
  /** Part of what the plane is chosen for that it holds. */
  held: number;
}

const dot = (a: ArrayLike<number>, b: ArrayLike<number>): number => {
  let sum = 0;
  for (let i = 0; i < a.length; ++i) sum += a[i]! * b[i]!;
  return sum;
};
const times = (matrix: Float64Array, vector: Float64Array): Float64Array =>
  Float64Array.from(vector, (_, i) => dot(matrix.subarray(i * vector.length, (i + 1) * vector.length), vector));
const unit = (vector: Float64Array): Float64Array => {
  const length = Math.sqrt(dot(vector, vector));
  return length > 1e-12 ? vector.map((value) => value / length) : vector;
};

/** A symmetric matrix, known by its products and its trace. */
interface Spread {
  times: (vector: Float64Array) => Float64Array;
  trace: number;
}
function spreadOf(matrix: Float64Array, size: number): Spread {
  let trace = 0;
  for (let i = 0; i < size; ++i) trace += matrix[i * size + i]!;
  return { times: (vector) => times(matrix, vector), trace };
}

// A file may have a thousand features. Beyond these, work that grows with their square or cube is spared.
const MANY_FEATURES = 128;
const MOST_STEPS = 2e7; // multiplications on the way to a direction
const roundsOf = (size: number): number => Math.max(8, Math.min(200, Math.floor(MOST_STEPS / (size * size))));

/** The direction of greatest spread that is square to `first`, by repeated multiplication. */
function strongest(matrix: Spread, begin: Float64Array, first: Float64Array | null): { axis: Float64Array; spread: number } {
  const aside = (vector: Float64Array): Float64Array => {
    if (!first) return vector;
    const along = dot(vector, first);
    return vector.map((value, i) => value - along * first[i]!);
  };
  let axis = unit(aside(begin));
  let spread = 0;
  const rounds = roundsOf(begin.length);
  for (let round = 0; round < rounds; ++round) {
    const next = aside(matrix.times(axis));
    spread = Math.sqrt(dot(next, next));
    if (spread < 1e-12) return { axis, spread: 0 };
    axis = next.map((value) => value / spread);
  }
  return { axis, spread };
}

/** The two strongest, beginning where the last map's were. A direction and its opposite are one: that which leaves the map as it was is taken. */
function strongestTwo(matrix: Spread, size: number, last: Plane['axes'] | null): { axes: Plane['axes']; held: number } {
  const known = last?.[0].length === size ? last : null;
  const begin = (at: number): Float64Array => (known ? Float64Array.from(known[at]!) : Float64Array.from({ length: size }, (_, i) => Math.sin(1 + i * (at + 1))));
  const first = strongest(matrix, begin(0), null);
  const second = strongest(matrix, begin(1), first.axis);
  const total = matrix.trace;
  const axes = [first.axis, second.axis].map((axis, i) => (known && dot(axis, known[i]!) < 0 ? axis.map((value) => -value) : axis)) as Plane['axes'];
  return { axes, held: total > 0 ? Math.min(1, (first.spread + second.spread) / total) : 1 };
}

/** Where points spread most: principal components. */
export function planeOfSpread(points: Float32Array, size: number, last: Plane | null): Plane {
  const count = points.length / size;
  const middle = new Float64Array(size);
  points.forEach((value, i) => (middle[i % size]! += value / count));
  const { axes, held } = strongestTwo(size > MANY_FEATURES ? longSpread(points, middle) : shortSpread(points, middle), size, last?.axes ?? null);
  return { middle, axes, back: axes, held };
}

function shortSpread(points: Float32Array, middle: Float64Array): Spread {
  const size = middle.length;
  const count = points.length / size;
  const matrix = new Float64Array(size * size);
  for (let p = 0; p < count; ++p)
    for (let i = 0; i < size; ++i)
      for (let j = 0; j < size; ++j)
        matrix[i * size + j]! += ((points[p * size + i]! - middle[i]!) * (points[p * size + j]! - middle[j]!)) / count;
  return spreadOf(matrix, size);
}

/** The same without the matrix, of some of the points. */
function longSpread(points: Float32Array, middle: Float64Array): Spread {
  const size = middle.length;
  const count = points.length / size;
  const step = Math.ceil(count / size);
  const chosen: Float64Array[] = [];
  for (let p = 0; p < count; p += step) chosen.push(middle.map((value, i) => points[p * size + i]! - value));
  const product = (vector: Float64Array): Float64Array => {
    const result = new Float64Array(size);
    for (const point of chosen) {
      const along = dot(point, vector) / chosen.length;
      for (let i = 0; i < size; ++i) result[i]! += along * point[i]!;
    }
    return result;
  };
  return { times: product, trace: chosen.reduce((sum, point) => sum + dot(point, point), 0) / chosen.length };
}

/** L of a matrix L Lᵀ; of that with its diagonal alone if features are many. */
function lowerRoot(matrix: Float64Array, size: number): Float64Array {
  const root = new Float64Array(size * size);
  for (let i = 0; i < size; ++i)
    for (let j = size > MANY_FEATURES ? i : 0; j <= i; ++j) {
      let sum = matrix[i * size + j]!;
      for (let k = 0; k < j && size <= MANY_FEATURES; ++k) sum -= root[i * size + k]! * root[j * size + k]!;
      root[i * size + j] = i === j ? Math.sqrt(Math.max(sum, 1e-12)) : sum / root[j * size + j]!;
    }
  return root;
}
/** x of L x = y, and of Lᵀ x = y. */
function solveLower(root: Float64Array, y: ArrayLike<number>): Float64Array {
  const size = y.length;
  const x = new Float64Array(size);
  for (let i = 0; i < size; ++i) {
    let sum = y[i]!;
    for (let k = 0; k < i; ++k) sum -= root[i * size + k]! * x[k]!;
    x[i] = sum / root[i * size + i]!;
  }
  return x;
}
function solveUpper(root: Float64Array, y: ArrayLike<number>): Float64Array {
  const size = y.length;
  const x = new Float64Array(size);
  for (let i = size - 1; i >= 0; --i) {
    let sum = y[i]!;
    for (let k = i + 1; k < size; ++k) sum -= root[k * size + i]! * x[k]!;
    x[i] = sum / root[i * size + i]!;
  }
  return x;
}

/**
 * Where clusters stand most apart, measured by their own width: the linear discriminant of their moments.
 * `last`: the axes of such a plane, made before.
 */
export function planeApart(clusters: { moments: Moments }[], size: number, last: Plane | null): Plane {
  const middle = new Float64Array(size);
  const within = new Float64Array(size * size);
  for (const { moments } of clusters) {
    moments.mean.forEach((value, i) => (middle[i]! += value / clusters.length));
    moments.covariance.forEach((value, i) => (within[i]! += value / clusters.length));
  }
  const root = lowerRoot(within, size);
  // In units of that width clusters are round, and the discriminant is the spread of their means.
  const between = new Float64Array(size * size);
  for (const { moments } of clusters) {
    const mean = solveLower(root, moments.mean.map((value, i) => value - middle[i]!));
    for (let i = 0; i < size; ++i) for (let j = 0; j < size; ++j) between[i * size + j]! += (mean[i]! * mean[j]!) / clusters.length;
  }
  const toRound = (axis: Float64Array): Float64Array => Float64Array.from(axis, (_, i) => {
    let sum = 0;
    for (let k = i; k < size; ++k) sum += root[k * size + i]! * axis[k]!;
    return sum;
  });
  const lastRound = last?.axes[0].length === size ? (last.axes.map(toRound) as Plane['axes']) : null;
  const { axes, held } = strongestTwo(spreadOf(between, size), size, lastRound);
  const out = axes.map((axis) => solveUpper(root, axis)) as Plane['axes'];
  return { middle, axes: out, back: out.map((axis) => times(within, axis)) as Plane['back'], held };
}

export function onto(plane: Plane, point: ArrayLike<number>): [number, number] {
  const moved = Float64Array.from(point, (value, i) => value - plane.middle[i]!);
  return [dot(moved, plane.axes[0]), dot(moved, plane.axes[1])];
}

export function outOf(plane: Plane, a: number, b: number): Float32Array {
  return Float32Array.from(plane.middle, (value, i) => value + a * plane.back[0][i]! + b * plane.back[1][i]!);
}

/** The 2 × 2 covariance in the plane: xx, xy, yy. */
export function covarianceOnto(plane: Plane, covariance: Float64Array): [number, number, number] {
  const [u, v] = [times(covariance, plane.axes[0]), times(covariance, plane.axes[1])];
  return [dot(plane.axes[0], u), dot(plane.axes[0], v), dot(plane.axes[1], v)];
}
