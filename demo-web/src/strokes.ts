/** Pen strokes as images like those of the digits: 28 × 28, the drawing 20 across, its mass in the middle. */
export interface Point {
  x: number;
  y: number;
}
export type Stroke = Point[];

export const SIDE = 28;
const DRAWING = 20;
const PEN = 1.15; // half the width of a line, in pixels: about that of the digits

export interface Deformation {
  rotation: number;
  scaleX: number;
  scaleY: number;
  shear: number;
  shiftX: number;
  shiftY: number;
  pen: number;
}
const NONE: Deformation = { rotation: 0, scaleX: 1, scaleY: 1, shear: 0, shiftX: 0, shiftY: 0, pen: 1 };

/** A hand that draws the same thing again. */
export function someDeformation(random: () => number): Deformation {
  const within = (size: number): number => (2 * random() - 1) * size;
  return {
    rotation: within(0.17),
    scaleX: 1 + within(0.1),
    scaleY: 1 + within(0.1),
    shear: within(0.12),
    shiftX: within(1),
    shiftY: within(1),
    pen: 1 + within(0.2),
  };
}

function fitted(strokes: Stroke[]): Stroke[] {
  const points = strokes.flat();
  const xs = points.map((p) => p.x);
  const ys = points.map((p) => p.y);
  const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const scale = (DRAWING - 2 * PEN) / Math.max(right - left, bottom - top, 1e-6);
  const limited = Math.min(scale, DRAWING); // a single point stays a point
  return strokes.map((stroke) =>
    stroke.map(({ x, y }) => ({ x: (x - (left + right) / 2) * limited, y: (y - (top + bottom) / 2) * limited })),
  );
}

function deformed(strokes: Stroke[], d: Deformation): Stroke[] {
  const [cos, sin] = [Math.cos(d.rotation), Math.sin(d.rotation)];
  return strokes.map((stroke) =>
    stroke.map(({ x, y }) => {
      const [u, v] = [d.scaleX * (x + d.shear * y), d.scaleY * y];
      return { x: cos * u - sin * v, y: sin * u + cos * v };
    }),
  );
}

function distance(px: number, py: number, a: Point, b: Point): number {
  const [dx, dy] = [b.x - a.x, b.y - a.y];
  const length = dx * dx + dy * dy;
  const t = length === 0 ? 0 : Math.max(0, Math.min(1, ((px - a.x) * dx + (py - a.y) * dy) / length));
  return Math.hypot(px - a.x - t * dx, py - a.y - t * dy);
}

function inked(strokes: Stroke[], offset: Point, pen: number): Float32Array<ArrayBuffer> {
  const image = new Float32Array(SIDE * SIDE);
  for (const stroke of strokes) {
    for (let i = 0; i < Math.max(1, stroke.length - 1); ++i) {
      const from = { x: stroke[i]!.x + offset.x, y: stroke[i]!.y + offset.y };
      const end = stroke[i + 1] ?? stroke[i]!;
      const to = { x: end.x + offset.x, y: end.y + offset.y };
      // Only the pixels that the piece can touch.
      const reach = pen + 1;
      const clip = (value: number): number => Math.max(0, Math.min(SIDE - 1, Math.round(value)));
      for (let y = clip(Math.min(from.y, to.y) - reach); y <= clip(Math.max(from.y, to.y) + reach); ++y) {
        for (let x = clip(Math.min(from.x, to.x) - reach); x <= clip(Math.max(from.x, to.x) + reach); ++x) {
          const ink = Math.max(0, Math.min(1, pen + 0.5 - distance(x + 0.5, y + 0.5, from, to)));
          image[y * SIDE + x] = Math.max(image[y * SIDE + x]!, ink);
        }
      }
    }
  }
  return image;
}

/** The image of a drawing; null if there is nothing on the pad. */
export function imageOf(strokes: Stroke[], deformation: Deformation = NONE): Float32Array<ArrayBuffer> | null {
  if (!strokes.some((stroke) => stroke.length > 0)) return null;
  const shape = deformed(fitted(strokes.filter((stroke) => stroke.length > 0)), deformation);
  const middle = { x: SIDE / 2, y: SIDE / 2 };
  const first = inked(shape, middle, PEN * deformation.pen);
  let [mass, x, y] = [0, 0, 0];
  first.forEach((ink, i) => {
    mass += ink;
    x += ink * ((i % SIDE) + 0.5);
    y += ink * (Math.floor(i / SIDE) + 0.5);
  });
  if (mass === 0) return first;
  const offset = { x: SIDE - x / mass + deformation.shiftX, y: SIDE - y / mass + deformation.shiftY };
  return inked(shape, offset, PEN * deformation.pen);
}
