/** A row as a picture: an image if it is one, else its numbers as bars. */
import { colour } from './dom';
import { PIXELS } from './digits';
import { SIDE } from './strokes';

const scratch = document.createElement('canvas');
scratch.width = scratch.height = SIDE;
const ink = scratch.getContext('2d', { willReadFrequently: true })!;
const image = ink.createImageData(SIDE, SIDE);
image.data.fill(255);

export function drawRow(context: CanvasRenderingContext2D, row: ArrayLike<number>, x: number, y: number, size: number): void {
  if (row.length !== PIXELS) return drawBars(context, row, x, y, size);
  const { data } = image;
  for (let i = 0; i < PIXELS; ++i) data[4 * i] = data[4 * i + 1] = data[4 * i + 2] = 255 * row[i]!; // clamped by the array
  ink.putImageData(image, 0, 0);
  context.imageSmoothingEnabled = true;
  context.drawImage(scratch, x, y, size, size);
}

function drawBars(context: CanvasRenderingContext2D, row: ArrayLike<number>, x: number, y: number, size: number): void {
  context.fillStyle = '#000';
  context.fillRect(x, y, size, size);
  const values = Array.from(row);
  const lowest = Math.min(0, ...values);
  const span = Math.max(...values, 0) - lowest || 1;
  const wide = (size - 4) / values.length;
  context.fillStyle = '#fff';
  values.forEach((value, i) => {
    const height = ((value - lowest) / span) * (size - 4);
    context.fillRect(x + 2 + i * wide, y + size - 2 - height, Math.max(1, wide * 0.8), Math.max(1, height));
  });
}

/** On a canvas of its own; nothing: an empty frame. */
export function drawAlone(target: HTMLCanvasElement, row: ArrayLike<number> | null): void {
  const context = target.getContext('2d')!;
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.fillStyle = colour('sunken');
  context.fillRect(0, 0, target.width, target.height);
  if (row) drawRow(context, row, 0, 0, target.width);
}
