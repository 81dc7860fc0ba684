/** The inverse of a simplex basis, whole and row by row in one array: small enough here that nothing cleverer pays. */
export class DenseInverse {
  readonly size: number;
  readonly #cells: Float64Array;

  constructor(size: number) {
    this.size = size;
    this.#cells = new Float64Array(size * size);
  }

  /** Adds `factor` times a column to `target`. */
  addColumn(column: number, factor: number, target: Float64Array): void {
    for (let row = 0; row < this.size; row++) {
      target[row] = (target[row] ?? 0) + factor * (this.#cells[row * this.size + column] ?? 0);
    }
  }

  /** Adds `factor` times a row to `target`. */
  addRow(row: number, factor: number, target: Float64Array): void {
    for (let at = 0; at < this.size; at++) {
      target[at] = (target[at] ?? 0) + factor * (this.#cells[row * this.size + at] ?? 0);
    }
  }

  /** Row `row` becomes the negative sum of `rows`. */
  replaceByNegativeSum(row: number, rows: readonly number[]): void {
    for (let at = 0; at < this.size; at++) {
      let sum = 0;
      for (const other of rows) sum += this.#cells[other * this.size + at] ?? 0;
      this.#cells[row * this.size + at] = -sum;
    }
  }

  /** The basis takes another column in the place of `row`; `direction` is that column in terms of the basis. */
  pivot(row: number, direction: Float64Array): void {
    const { size } = this;
    const cells = this.#cells;
    const pivot = direction[row] ?? 1;
    for (let at = 0; at < size; at++) cells[row * size + at] = (cells[row * size + at] ?? 0) / pivot;
    for (let other = 0; other < size; other++) {
      const factor = direction[other] ?? 0;
      if (other !== row && factor !== 0) subtractRow(cells, size, other, factor, row);
    }
  }

  /** Becomes the inverse of `matrix`, which is used up. Gauss and Jordan with row exchanges; throws for a singular one. */
  invert(matrix: Float64Array): void {
    const { size } = this;
    const inverse = this.#cells;
    inverse.fill(0);
    for (let row = 0; row < size; row++) inverse[row * size + row] = 1;
    for (let column = 0; column < size; column++) {
      const pivotRow = largestBelow(matrix, size, column);
      if (pivotRow !== column) {
        swapRows(matrix, size, pivotRow, column);
        swapRows(inverse, size, pivotRow, column);
      }
      const pivot = matrix[column * size + column] ?? 0;
      if (Math.abs(pivot) < 1e-12) throw new Error("the basis is singular");
      for (let row = 0; row < size; row++) {
        const factor = (matrix[row * size + column] ?? 0) / pivot;
        if (row === column || factor === 0) continue;
        subtractRow(matrix, size, row, factor, column);
        subtractRow(inverse, size, row, factor, column);
      }
      for (let at = 0; at < size; at++) {
        matrix[column * size + at] = (matrix[column * size + at] ?? 0) / pivot;
        inverse[column * size + at] = (inverse[column * size + at] ?? 0) / pivot;
      }
    }
  }
}

function largestBelow(matrix: Float64Array, size: number, column: number): number {
  let largest = column;
  for (let row = column + 1; row < size; row++) {
    if (Math.abs(matrix[row * size + column] ?? 0) > Math.abs(matrix[largest * size + column] ?? 0)) largest = row;
  }
  return largest;
}

function subtractRow(cells: Float64Array, size: number, from: number, factor: number, row: number): void {
  for (let at = 0; at < size; at++) {
    cells[from * size + at] = (cells[from * size + at] ?? 0) - factor * (cells[row * size + at] ?? 0);
  }
}

function swapRows(cells: Float64Array, size: number, a: number, b: number): void {
  for (let at = 0; at < size; at++) {
    const kept = cells[a * size + at] ?? 0;
    cells[a * size + at] = cells[b * size + at] ?? 0;
    cells[b * size + at] = kept;
  }
}
