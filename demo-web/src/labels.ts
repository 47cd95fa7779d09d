/** Names on a drawing, moved apart where they would lie on each other. */
export interface Label {
  /** Where it should be, and where it is. */
  at: [number, number];
  x: number;
  y: number;
  width: number;
  height: number;
}

const ROUNDS = 40;

export function moveApart(labels: Label[], width: number, height: number): void {
  for (let round = 0; round < ROUNDS; ++round) {
    let moved = false;
    labels.forEach((a, i) => {
      for (const b of labels.slice(i + 1)) {
        const [dx, dy] = [b.x - a.x, b.y - a.y];
        const [overX, overY] = [(a.width + b.width) / 2 - Math.abs(dx), (a.height + b.height) / 2 - Math.abs(dy)];
        if (overX <= 0 || overY <= 0) continue;
        moved = true;
        // The shorter way out, half of it each.
        if (overX < overY) {
          const step = (dx < 0 ? -overX : overX) / 2;
          a.x -= step;
          b.x += step;
        } else {
          const step = (dy < 0 ? -overY : overY) / 2;
          a.y -= step;
          b.y += step;
        }
      }
    });
    for (const label of labels) {
      label.x = Math.max(label.width / 2, Math.min(width - label.width / 2, label.x));
      label.y = Math.max(label.height / 2, Math.min(height - label.height / 2, label.y));
    }
    if (!moved) return;
  }
}
