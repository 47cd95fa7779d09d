/** The plane of the map: the two directions in which points spread most. */
export interface Plane {
  middle: Float64Array;
  axes: [Float64Array, Float64Array];
  /** Part of the spread that the plane holds. */
  held: number;
}

const dot = (a: ArrayLike<number>, b: ArrayLike<number>): number => {
  let sum = 0;
  for (let i = 0; i < a.length; ++i) sum += a[i]! * b[i]!;
  return sum;
};

/** The direction of greatest spread, by repeated multiplication; begins where the last map's was. */
function strongest(matrix: Float64Array, size: number, begin: Float64Array): { axis: Float64Array; spread: number } {
  let axis = begin;
  let spread = 0;
  for (let round = 0; round < 200; ++round) {
    const next = Float64Array.from({ length: size }, (_, i) => dot(matrix.subarray(i * size, (i + 1) * size), axis));
    spread = Math.sqrt(dot(next, next));
    if (spread < 1e-12) return { axis, spread: 0 };
    axis = next.map((value) => value / spread);
  }
  return { axis, spread };
}

export function planeOf(points: Float32Array, size: number, last: Plane | null): Plane {
  const count = points.length / size;
  const middle = new Float64Array(size);
  points.forEach((value, i) => (middle[i % size]! += value / count));
  const matrix = new Float64Array(size * size);
  for (let p = 0; p < count; ++p)
    for (let i = 0; i < size; ++i)
      for (let j = 0; j < size; ++j)
        matrix[i * size + j]! += ((points[p * size + i]! - middle[i]!) * (points[p * size + j]! - middle[j]!)) / count;
  let total = 0;
  for (let i = 0; i < size; ++i) total += matrix[i * size + i]!;
  const begin = (axis: number): Float64Array =>
    last?.axes[axis]?.length === size ? Float64Array.from(last.axes[axis]!) : Float64Array.from({ length: size }, (_, i) => Math.sin(1 + i * (axis + 1)));
  const first = strongest(matrix, size, begin(0));
  for (let i = 0; i < size; ++i) for (let j = 0; j < size; ++j) matrix[i * size + j]! -= first.spread * first.axis[i]! * first.axis[j]!;
  const second = strongest(matrix, size, begin(1));
  const axes: Plane['axes'] = [first.axis, second.axis];
  // A direction and its opposite are one; take that which leaves the map as it was.
  axes.forEach((axis, i) => {
    if (last?.axes[i]?.length === size && dot(axis, last.axes[i]!) < 0) axis.forEach((value, j) => (axis[j] = -value));
  });
  return { middle, axes, held: total > 0 ? (first.spread + second.spread) / total : 1 };
}

export function onto(plane: Plane, point: ArrayLike<number>): [number, number] {
  const moved = Float64Array.from(point, (value, i) => value - plane.middle[i]!);
  return [dot(moved, plane.axes[0]), dot(moved, plane.axes[1])];
}

export function outOf(plane: Plane, a: number, b: number): Float32Array {
  return Float32Array.from(plane.middle, (value, i) => value + a * plane.axes[0][i]! + b * plane.axes[1][i]!);
}

/** The 2 × 2 covariance in the plane: xx, xy, yy. */
export function covarianceOnto(plane: Plane, covariance: Float64Array): [number, number, number] {
  const size = plane.middle.length;
  const times = (axis: Float64Array): Float64Array =>
    Float64Array.from({ length: size }, (_, i) => dot(covariance.subarray(i * size, (i + 1) * size), axis));
  const [u, v] = [times(plane.axes[0]), times(plane.axes[1])];
  return [dot(plane.axes[0], u), dot(plane.axes[0], v), dot(plane.axes[1], v)];
}
