/** A row as a picture: an image if it is one, else its numbers as bars or a line, or two of them as a point. */
import { colour } from './dom';

export type Picture =
  | { kind: 'image'; width: number; height: number }
  /** Every number is drawn within its own range. */
  | { kind: 'bars' | 'line' | 'point'; low: ArrayLike<number>; high: ArrayLike<number> };

const MOST_BARS = 24;
const MOST_SIDE = 256; // pixels of an image that are drawn, across or down
/** Photographs' ground, light or dark alike, and what is drawn on it. */
const [GROUND, GRID, AREA, INK] = ['#000', '#3a3f4a', '#345d8c', '#fff'];

/** For numbers whose ranges are known, column by column. */
export function pictureOf(low: ArrayLike<number>, high: ArrayLike<number>): Picture {
  return { kind: low.length === 2 ? 'point' : low.length > MOST_BARS ? 'line' : 'bars', low, high };
}

let picture: Picture = { kind: 'image', width: 28, height: 28 };
/** How rows are drawn from now on. */
export function drawRowsAs(next: Picture): void {
  picture = next;
}

/** Draws something in another way, and leaves the rest of the page as it is. */
export function drawnAs(other: Picture, draw: () => void): void {
  const before = picture;
  picture = other;
  draw();
  picture = before;
}

const scratch = document.createElement('canvas');
const ink = scratch.getContext('2d', { willReadFrequently: true })!;
let image = ink.createImageData(1, 1);

export function drawRow(context: CanvasRenderingContext2D, row: ArrayLike<number>, x: number, y: number, size: number): void {
  context.fillStyle = GROUND;
  context.fillRect(x, y, size, size);
  if (picture.kind === 'image') return drawImage(context, row, picture, x, y, size);
  const { kind, low, high } = picture;
  if (row.length !== low.length) return; // of a model that is going
  const inset = Math.max(2, size * 0.06);
  const part = (i: number): number => Math.max(0, Math.min(1, (row[i]! - low[i]!) / (high[i]! - low[i]! || 1)));
  const room = size - 2 * inset;
  const across = (t: number): number => x + inset + t * room;
  const up = (t: number): number => y + size - inset - t * room;
  if (kind === 'point') {
    context.fillStyle = GRID;
    context.fillRect(x, up(0.5), size, 1);
    context.fillRect(across(0.5), y, 1, size);
    context.fillStyle = INK;
    context.beginPath();
    context.arc(across(part(0)), up(part(1)), Math.max(2.5, size * 0.06), 0, 2 * Math.PI);
    context.fill();
  } else if (kind === 'bars') {
    const wide = room / row.length;
    context.fillStyle = INK;
    for (let i = 0; i < row.length; ++i) {
      const height = Math.max(1, part(i) * room);
      context.fillRect(x + inset + i * wide, y + size - inset - height, Math.max(1, wide * 0.8), height);
    }
  } else {
    context.beginPath();
    // As many corners as can be told apart.
    const step = Math.ceil(row.length / (4 * size));
    for (let i = 0; i < row.length; i += step) context.lineTo(across(i / (row.length - 1)), up(part(i)));
    context.strokeStyle = INK;
    context.lineWidth = Math.max(1, size / 70);
    context.stroke();
    context.lineTo(across(1), up(0));
    context.lineTo(across(0), up(0));
    context.globalCompositeOperation = 'lighten'; // below the line, not over it
    context.fillStyle = AREA;
    context.fill();
    context.globalCompositeOperation = 'source-over';
  }
}

function drawImage(context: CanvasRenderingContext2D, row: ArrayLike<number>, { width, height }: { width: number; height: number }, x: number, y: number, size: number): void {
  if (row.length !== width * height) return;
  // Of a large picture every step-th pixel: more than can be seen would only take time.
  const step = Math.ceil(Math.max(width, height) / MOST_SIDE);
  const [wide, high] = [Math.ceil(width / step), Math.ceil(height / step)];
  if (image.width !== wide || image.height !== high) {
    scratch.width = wide;
    scratch.height = high;
    image = ink.createImageData(wide, high);
    image.data.fill(255);
  }
  const { data } = image;
  let to = 0;
  for (let down = 0; down < height; down += step)
    for (let across = 0; across < width; across += step, to += 4) data[to] = data[to + 1] = data[to + 2] = 255 * row[down * width + across]!; // clamped by the array
  ink.putImageData(image, 0, 0);
  const scale = size / Math.max(width, height);
  context.imageSmoothingEnabled = true;
  context.drawImage(scratch, x + (size - scale * width) / 2, y + (size - scale * height) / 2, scale * width, scale * height);
}

/** On a canvas of its own; nothing: an empty frame. */
export function drawAlone(target: HTMLCanvasElement, row: ArrayLike<number> | null): void {
  const context = target.getContext('2d')!;
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.fillStyle = colour('sunken');
  context.fillRect(0, 0, target.width, target.height);
  if (row) drawRow(context, row, 0, 0, target.width);
}
