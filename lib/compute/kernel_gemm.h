// Matrix product for one instruction set: pack, multiply in register tiles, finish while the tile
// is hot. Included by kernel_body.h only; see kernels.h.
//
//   A [m × k] ─pack─► panels of kTileRows rows:     a00 a10 .. | a01 a11 .. | ...   (depth-major)
//   B [k × n] ─pack─► panels of kTileCols columns:  b00 b01 .. | b10 b11 .. | ...
//   a register tile of C, kTileRows × kTileCols, is then one pass over a panel of each.
//
// Each element of C is summed in the same order (blocks of call->depth, in turn) whatever the tile
// it falls into and whichever function computes it: neither the number of rows in a batch nor the
// split over threads changes a bit of a row's result.

constexpr int kTileRows = ADAPVAE_TILE_ROWS;
constexpr int kTileVectors = ADAPVAE_TILE_VECTORS;
constexpr int kTileCols = kTileVectors * kLanes;
constexpr Index kDepthBlock = ADAPVAE_DEPTH_BLOCK;

// C tile [R × NV vectors] (+)= A panel · B panel. Element (r, p) of A at a[r·a_row + p·a_step].
template <int R, int NV>
ADAPVAE_INLINE void multiply_tile(Index depth, const float* a, Index a_row, Index a_step,
                                  const float* b, Index b_step, float* c, Index c_row, bool add) {
  // The tile is read or written at the end: have its lines on the way by then.
  ADAPVAE_UNROLL for (int r = 0; r < R; ++r) __builtin_prefetch(c + r * c_row, 1);
  Vec sum[R][NV];
  ADAPVAE_UNROLL for (int r = 0; r < R; ++r) {
    ADAPVAE_UNROLL for (int v = 0; v < NV; ++v) sum[r][v] = splat(0.0F);
  }
  for (Index p = 0; p < depth; ++p) {
    Vec row_b[NV];
    ADAPVAE_UNROLL for (int v = 0; v < NV; ++v) row_b[v] = load(b + v * kLanes);
    ADAPVAE_UNROLL for (int r = 0; r < R; ++r) {
      const float value = a[r * a_row];
      ADAPVAE_UNROLL for (int v = 0; v < NV; ++v) sum[r][v] += value * row_b[v];
    }
    a += a_step;
    b += b_step;
  }
  ADAPVAE_UNROLL for (int r = 0; r < R; ++r) {
    ADAPVAE_UNROLL for (int v = 0; v < NV; ++v) {
      float* target = c + r * c_row + v * kLanes;
      store(target, add ? load(target) + sum[r][v] : sum[r][v]);
    }
  }
}

using TileFunction = void (*)(Index depth, const float* a, Index a_row, Index a_step,
                              const float* b, Index b_step, float* c, Index c_row, bool add);

template <int R>
void packed_tile(Index depth, const float* a, Index, Index, const float* b, Index, float* c,
                 Index c_row, bool add) {
  multiply_tile<R, kTileVectors>(depth, a, 1, kTileRows, b, kTileCols, c, c_row, add);
}
template <int R, int NV>
void strided_tile(Index depth, const float* a, Index a_row, Index a_step, const float* b,
                  Index b_step, float* c, Index c_row, bool add) {
  multiply_tile<R, NV>(depth, a, a_row, a_step, b, b_step, c, c_row, add);
}
// A single row has too few sums to hide the latency of a multiply-add: take more columns.
constexpr int kWideVectors = 8;
constexpr int kWideCols = kWideVectors * kLanes;

// Tiles by number of rows (1..kTileRows), and at the right edge also by number of vectors.
template <int... R>
struct TileRows {
  static constexpr TileFunction kPacked[] = {nullptr, packed_tile<R + 1>...};
  template <int NV>
  static constexpr TileFunction kStrided[] = {nullptr, strided_tile<R + 1, NV>...};
};
template <int N, int... R>
struct MakeTileRows : MakeTileRows<N - 1, N - 1, R...> {};
template <int... R>
struct MakeTileRows<0, R...> {
  using Type = TileRows<R...>;
};
using Tiles = MakeTileRows<kTileRows>::Type;

constexpr int kFewestVectors = kSmallCode ? kTileVectors : 1;
template <int NV = kFewestVectors>
ADAPVAE_INLINE TileFunction strided_tile_for(Index rows, Index vectors) {
  if constexpr (NV == kTileVectors) {
    return Tiles::kStrided<NV>[rows];
  } else {
    return vectors == NV ? Tiles::kStrided<NV>[rows] : strided_tile_for<NV + 1>(rows, vectors);
  }
}

// bias and activation for a tile of C.
ADAPVAE_INLINE void finish_activation(Activation activation, const GemmCall* call, Index i0,
                                      Index i1, Index j0, Index cols) {
  const float* bias = call->bias != nullptr ? call->bias + j0 : nullptr;
  for (Index i = i0; i < i1; ++i) {
    float* c = call->c + i * call->c_row + j0;
    Index j = 0;
    for (; j + kLanes <= cols; j += kLanes) {
      Vec value = load(c + j);
      if (bias != nullptr) value += load(bias + j);
      store(c + j, activate(activation, value));
    }
    if (j < cols) {
      Vec value = load_partial(c + j, cols - j, 0.0F);
      if (bias != nullptr) value += load_partial(bias + j, cols - j, 0.0F);
      store_partial(c + j, activate(activation, value), cols - j);
    }
  }
}
// The factor of the activation below, for a tile of C.
ADAPVAE_INLINE void finish_gate(Activation activation, const GemmCall* call, Index i0, Index i1,
                                Index j0, Index cols) {
  for (Index i = i0; i < i1; ++i) {
    float* c = call->c + i * call->c_row + j0;
    const float* gate = call->gate + i * call->gate_row + j0;
    Index j = 0;
    for (; j + kLanes <= cols; j += kLanes) {
      store(c + j, load(c + j) * derivative(activation, load(gate + j)));
    }
    if (j < cols) {
      const Vec value = load_partial(c + j, cols - j, 0.0F);
      const Vec output = load_partial(gate + j, cols - j, 0.0F);
      store_partial(c + j, value * derivative(activation, output), cols - j);
    }
  }
}
using FinishFunction = void (*)(const GemmCall* call, Index i0, Index i1, Index j0, Index cols);
template <Activation kActivation>
void finish_with(const GemmCall* call, Index i0, Index i1, Index j0, Index cols) {
  finish_activation(kActivation, call, i0, i1, j0, cols);
}
template <Activation kActivation>
void finish_with_gate(const GemmCall* call, Index i0, Index i1, Index j0, Index cols) {
  finish_gate(kActivation, call, i0, i1, j0, cols);
}
#define ADAPVAE_FINISH_LIST(finish)                                                            \
  {                                                                                            \
    finish<Activation::kLinear>, finish<Activation::kRelu>, finish<Activation::kLeakyRelu>,    \
        finish<Activation::kTanh>, finish<Activation::kSigmoid>, finish<Activation::kSoftplus> \
  }
constexpr FinishFunction kFinishActivation[6] = ADAPVAE_FINISH_LIST(finish_with);
constexpr FinishFunction kFinishGate[6] = ADAPVAE_FINISH_LIST(finish_with_gate);

ADAPVAE_INLINE void finish_tile(const GemmCall* call, Index i0, Index i1, Index j0, Index cols) {
  if constexpr (kSmallCode) {  // the activation is asked for at each number
    finish_activation(call->activation, call, i0, i1, j0, cols);
    if (call->gate != nullptr) finish_gate(call->gate_activation, call, i0, i1, j0, cols);
    return;
  }
  if (call->bias != nullptr || call->activation != Activation::kLinear) {
    kFinishActivation[static_cast<int>(call->activation)](call, i0, i1, j0, cols);
  }
  if (call->gate != nullptr && call->gate_activation != Activation::kLinear) {
    kFinishGate[static_cast<int>(call->gate_activation)](call, i0, i1, j0, cols);
  }
}

// The tile of C at the right edge, cols < kTileCols wide: whole vectors are computed aside, and
// only as many as hold a column of C.
ADAPVAE_INLINE void edge_tile(Index depth, const float* a, Index a_row, Index a_step,
                              const float* b, float* c, Index c_row, Index rows, Index cols,
                              bool add) {
  alignas(64) float edge[kTileRows * kTileCols];
  const TileFunction tile = strided_tile_for(rows, (cols + kLanes - 1) / kLanes);
  tile(depth, a, a_row, a_step, b, kTileCols, edge, kTileCols, false);
  for (Index r = 0; r < rows; ++r) {
    for (Index j = 0; j < cols; ++j) {
      const float value = edge[r * kTileCols + j];
      c[r * c_row + j] = add ? c[r * c_row + j] + value : value;
    }
  }
}

#if ADAPVAE_LANES > 1
using Quad = float __attribute__((vector_size(16)));
ADAPVAE_INLINE Quad load_quad(const float* p) {
  Quad v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
ADAPVAE_INLINE void store_quad(float* p, Quad v) { __builtin_memcpy(p, &v, sizeof v); }

// Four lines of four numbers, `line` apart, written as four columns `out_step` apart.
ADAPVAE_INLINE void transpose_quad(const float* in, Index line, float* out, Index out_step) {
  const Quad r0 = load_quad(in);
  const Quad r1 = load_quad(in + line);
  const Quad r2 = load_quad(in + 2 * line);
  const Quad r3 = load_quad(in + 3 * line);
  const Quad t0 = __builtin_shufflevector(r0, r1, 0, 4, 1, 5);
  const Quad t1 = __builtin_shufflevector(r2, r3, 0, 4, 1, 5);
  const Quad t2 = __builtin_shufflevector(r0, r1, 2, 6, 3, 7);
  const Quad t3 = __builtin_shufflevector(r2, r3, 2, 6, 3, 7);
  store_quad(out, __builtin_shufflevector(t0, t1, 0, 1, 4, 5));
  store_quad(out + out_step, __builtin_shufflevector(t0, t1, 2, 3, 6, 7));
  store_quad(out + 2 * out_step, __builtin_shufflevector(t2, t3, 0, 1, 4, 5));
  store_quad(out + 3 * out_step, __builtin_shufflevector(t2, t3, 2, 3, 6, 7));
}
#endif

#if ADAPVAE_LANES > 1
// Two lines of four numbers, written as four pairs `out_step` apart.
ADAPVAE_INLINE void transpose_pair(const float* in, Index line, float* out, Index out_step) {
  const Quad r0 = load_quad(in);
  const Quad r1 = load_quad(in + line);
  const Quad low = __builtin_shufflevector(r0, r1, 0, 4, 1, 5);
  const Quad high = __builtin_shufflevector(r0, r1, 2, 6, 3, 7);
  float pairs[8];
  store_quad(pairs, low);
  store_quad(pairs + 4, high);
  ADAPVAE_UNROLL for (int p = 0; p < 4; ++p) {
    __builtin_memcpy(out + p * out_step, pairs + 2 * p, 2 * sizeof(float));
  }
}
#endif

// One panel: `width` lines out of `Width`, each `depth` long; line l, position p at
// in[l·line + p·step], written to out[p·Width + l]; missing lines become zeros.
template <int Width>
ADAPVAE_INLINE void pack_panel(const float* in, Index line, Index step, Index width, Index depth,
                               float* out) {
  if (line == 1 && width == Width) {
    for (Index p = 0; p < depth; ++p) {
      __builtin_memcpy(out + p * Width, in + p * step, Width * sizeof(float));
    }
    return;
  }
  Index l = 0;
#if ADAPVAE_LANES > 1
  if (step == 1) {
    for (; l + 4 <= width; l += 4) {
      Index p = 0;
      for (; p + 4 <= depth; p += 4) {
        // Lines are short runs far apart: fetch those of the next panel meanwhile.
        const float* ahead = in + (l + Width) * line + p;
        ADAPVAE_UNROLL for (int q = 0; q < 4; ++q) __builtin_prefetch(ahead + q * line);
        transpose_quad(in + l * line + p, line, out + p * Width + l, Width);
      }
      for (; p < depth; ++p) {
        for (Index q = l; q < l + 4; ++q) out[p * Width + q] = in[q * line + p];
      }
    }
    for (; l + 2 <= width; l += 2) {
      Index p = 0;
      for (; p + 4 <= depth; p += 4) {
        const float* ahead = in + (l + Width) * line + p;
        ADAPVAE_UNROLL for (int q = 0; q < 2; ++q) __builtin_prefetch(ahead + q * line);
        transpose_pair(in + l * line + p, line, out + p * Width + l, Width);
      }
      for (; p < depth; ++p) {
        for (Index q = l; q < l + 2; ++q) out[p * Width + q] = in[q * line + p];
      }
    }
  }
#endif
  for (; l < width; ++l) {
    for (Index p = 0; p < depth; ++p) out[p * Width + l] = in[l * line + p * step];
  }
  for (; l < Width; ++l) {
    for (Index p = 0; p < depth; ++p) out[p * Width + l] = 0.0F;
  }
}

template <int Width>
ADAPVAE_INLINE void pack_panels(const float* in, Index line, Index step, Index count, Index depth,
                                float* out) {
  Index first = 0;
  if (line == 1) {
    // Lines lie side by side: copy several panels at once, reading longer runs of memory.
    constexpr int kTogether = 4;
    for (; first + kTogether * Width <= count; first += kTogether * Width) {
      float* target = out + first * depth;
      for (Index p = 0; p < depth; ++p) {
        const float* source = in + first + p * step;
        ADAPVAE_UNROLL for (int q = 0; q < kTogether * Width; q += 16) {
          __builtin_prefetch(source + 8 * step + q);
        }
        ADAPVAE_UNROLL for (int q = 0; q < kTogether; ++q) {
          __builtin_memcpy(target + q * Width * depth + p * Width, source + q * Width,
                           Width * sizeof(float));
        }
      }
    }
  }
  for (Index l = first; l < count; l += Width) {
    const Index width = count - l < Width ? count - l : Width;
    pack_panel<Width>(in + l * line, line, step, width, depth, out + l * depth);
  }
}

void pack_a(const GemmCall* call, Index i0, Index i1, Index p0, Index p1, float* out) {
  pack_panels<kTileRows>(call->a + i0 * call->a_row + p0 * call->a_col, call->a_row, call->a_col,
                         i1 - i0, p1 - p0, out);
}

void pack_b(const GemmCall* call, Index j0, Index j1, Index p0, Index p1, float* out) {
  pack_panels<kTileCols>(call->b + p0 * call->b_row + j0 * call->b_col, call->b_col, call->b_row,
                         j1 - j0, p1 - p0, out);
}

// The panel of B stays in the first-level cache while the panels of A stream past it.
void gemm_block(const GemmCall* call, const GemmBlock* block) {
  const Index depth = block->p1 - block->p0;
  const bool packed = block->packed_a != nullptr;
  const float* first_a = packed ? block->packed_a : call->a + block->p0 * call->a_col;
  const Index a_next = packed ? depth : call->a_row;  // from a row's numbers to the next row's
  const Index a_row = packed ? 1 : call->a_row;
  const Index a_step = packed ? kTileRows : call->a_col;
  const TileFunction* tiles = packed ? Tiles::kPacked : Tiles::kStrided<kTileVectors>;
  for (Index j = block->j0; j < block->j1; j += kTileCols) {
    const Index cols = block->j1 - j < kTileCols ? block->j1 - j : kTileCols;
    const float* b = block->packed_b + j * depth;
    for (Index i = block->i0; i < block->i1; i += kTileRows) {
      const Index rows = block->i1 - i < kTileRows ? block->i1 - i : kTileRows;
      const float* a = first_a + i * a_next;
      float* c = call->c + i * call->c_row + j;
      if (cols == kTileCols) {
        tiles[rows](depth, a, a_row, a_step, b, kTileCols, c, call->c_row, !block->first);
      } else {
        edge_tile(depth, a, a_row, a_step, b, c, call->c_row, rows, cols, !block->first);
      }
      if (block->last) finish_tile(call, i, i + rows, j, cols);
    }
  }
}

// A single row times B: it waits for B's rows, and images and rectified layers have many zeros, for
// which none is read. The same bits, B being finite: a sum that begins with +0 never becomes -0,
// and ±0 changes no other. Returns the number of columns that were done.
Index multiply_row(const GemmCall* call) {
  const Index cols = call->n / kWideCols * kWideCols;
  if (cols == 0) return 0;
  for (Index p0 = 0; p0 < call->k; p0 += call->depth) {
    const Index depth = call->k - p0 < call->depth ? call->k - p0 : call->depth;
    float value[kDepthBlock];
    const float* row[kDepthBlock];
    Index count = 0;
    for (Index p = p0; p < p0 + depth; ++p) {
      value[count] = call->a[p * call->a_col];
      row[count] = call->b + p * call->b_row;
      count += value[count] != 0.0F ? 1 : 0;
    }
    for (Index j = 0; j < cols; j += kWideCols) {
      Vec sum[kWideVectors];
      ADAPVAE_UNROLL for (int v = 0; v < kWideVectors; ++v) sum[v] = splat(0.0F);
      for (Index p = 0; p < count; ++p) {
        const float* b = row[p] + j;
        const float a = value[p];
        ADAPVAE_UNROLL for (int v = 0; v < kWideVectors; ++v) sum[v] += a * load(b + v * kLanes);
      }
      ADAPVAE_UNROLL for (int v = 0; v < kWideVectors; ++v) {
        float* target = call->c + j + v * kLanes;
        store(target, p0 > 0 ? load(target) + sum[v] : sum[v]);
      }
    }
  }
  finish_tile(call, 0, 1, 0, cols);
  return cols;
}

void gemm_small(const GemmCall* call, float* packed_b) {
  const bool one_row = !kSmallCode && call->m == 1 && call->b_col == 1;
  const Index first_col = one_row ? multiply_row(call) : 0;
  for (Index j = first_col; j < call->n; j += kTileCols) {
    const Index cols = call->n - j < kTileCols ? call->n - j : kTileCols;
    for (Index p = 0; p < call->k; p += call->depth) {
      const Index depth = call->k - p < call->depth ? call->k - p : call->depth;
      const float* b = call->b + p * call->b_row + j * call->b_col;
      Index b_step = call->b_row;
      if (call->b_col != 1 || cols < kTileCols) {
        pack_panel<kTileCols>(b, call->b_col, call->b_row, cols, depth, packed_b);
        b = packed_b;
        b_step = kTileCols;
      }
      for (Index i = 0; i < call->m; i += kTileRows) {
        const Index rows = call->m - i < kTileRows ? call->m - i : kTileRows;
        const float* a = call->a + i * call->a_row + p * call->a_col;
        float* c = call->c + i * call->c_row + j;
        if (cols == kTileCols) {
          strided_tile_for(rows, kTileVectors)(depth, a, call->a_row, call->a_col, b, b_step, c,
                                               call->c_row, p > 0);
        } else {
          edge_tile(depth, a, call->a_row, call->a_col, b, c, call->c_row, rows, cols, p > 0);
        }
      }
    }
    finish_tile(call, 0, call->m, j, cols);
  }
}
