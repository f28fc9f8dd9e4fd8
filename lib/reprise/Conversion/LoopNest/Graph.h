// reprise: what one loop nest computes: elements as a graph of nodes over the nest's symbols
#ifndef REPRISE_CONVERSION_LOOPNEST_GRAPH_H
#define REPRISE_CONVERSION_LOOPNEST_GRAPH_H

#include "Affine.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Target/Launch.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallBitVector.h"

namespace reprise::nests {

constexpr int64_t reductionLanes = 32;
constexpr int64_t laneBlock = 4096;
constexpr int64_t orderedBlock = 64;

/// The iteration space: outer × rows × columns, each a product of factors in row-major order.
/// Reductions of last dimensions run along all columns of a row; the others along all rows of an
/// outer entry.
struct Shape {
  llvm::SmallVector<int64_t> outer, rows, columns;
  /// Distances along all factors, in order, in a row-major value that has one element per
  /// iteration; none if the factors are in the order of its dimensions.
  llvm::SmallVector<int64_t> strides = {};

  static int64_t product(llvm::ArrayRef<int64_t> factors);
  int64_t outerSize() const { return product(outer); }
  int64_t rowCount() const { return product(rows); }
  int64_t columnCount() const { return product(columns); }
  int64_t size() const { return outerSize() * rowCount() * columnCount(); }
  /// Whether neighbours in a row are neighbours in memory, as stores of lanes ask. Not where the
  /// last reduced dimension has size 1.
  bool hasDenseColumns() const {
    return strides.empty() || strides.back() == 1 || columns.back() == 1;
  }
  /// All factors in order: symbol number i of a graph runs over factor i.
  llvm::SmallVector<int64_t> factors() const;
  /// Adds dimensions to a group as factors, neighbours joined; at least one. Groups are filled in
  /// their order.
  void addDims(llvm::SmallVector<int64_t> Shape::*group, llvm::ArrayRef<int64_t> sizes,
               llvm::ArrayRef<int64_t> dimStrides);
  /// Cuts the factor of a symbol into (quotient, remainder) by `divisor`.
  void split(unsigned symbol, int64_t divisor);
};

/// How often a node is computed: once per kernel, per row, per element, or within an element's own
/// inner loop.
enum class Level { Kernel, Row, Column, Inner };

struct Symbol {
  /// Factors of the shape; a step of an inner loop; the clamped value of a node; numerator /
  /// divisor.
  enum Kind { Outer, Row, Column, Sequence, Indirect, Quotient } kind;
  int64_t size;
  int node = -1;
  Affine numerator = {};
  int64_t divisor = 1;
  /// Of a quotient by 1: the op whose pieces it runs over, and which of its groups of dimensions;
  /// the pieces can be cut into wholes of a divisor of `granule`.
  mlir::Operation *op = nullptr;
  unsigned group = 0;
  int64_t granule = 1;
};

/// lower <= index < upper, and (index - lower) a multiple of `multiple`.
struct Condition {
  Affine index;
  int64_t lower, upper, multiple;
};

struct Node {
  enum Kind {
    Constant, // `value` everywhere
    Load,     // element `index` of `buffer`
    Index,    // `index` itself, as a number of `type`
    Compute,  // the op's arithmetic on the operands
    Draw,   // the random op at global position `index` (+ origin); operands: stream, seed, offset,
            // one per dimension of an origin, and the element of dropout's operand
    Choice, // operand 0 where the condition holds, else operand 1
    Sequence, // operand 0 reduced over `symbols`, in order
    Reduce,   // operand 0 reduced over the columns
    Fold,     // the tree over elements index, index + stride, … of `buffer`
    Tile,     // the contraction's element that is at hand
  } kind;
  mlir::Operation *op = nullptr;
  /// The element type; 16-bit floats are held in f32.
  mlir::Type type;
  llvm::SmallVector<int> operands = {};
  Affine index = {};
  int buffer = -1;
  mlir::Attribute value = nullptr;
  std::optional<Condition> condition = std::nullopt;
  llvm::SmallVector<unsigned> symbols = {};
  int64_t parts = 0, stride = 0;

  /// Symbols that the value varies with, those inside of computed indices included.
  llvm::SmallBitVector varies = {};
  Level level = Level::Kernel;
  /// The level that the reductions inside ask for, even if nothing varies.
  Level floor = Level::Kernel;
  /// The number of reductions over columns, one after the other, that come before.
  int stage = 0;
  /// About the instructions for one element, with all that it needs.
  int64_t cost = 0;
};

/// A value of the group that a nest computes.
struct Root {
  enum Kind {
    Full,      // an element per (outer, row, column)
    Row,       // an element per (outer, row)
    Single,    // one element
    RowParts,  // a reduction over rows, up to blocks of 64: [block][kept]
    LaneParts, // a reduction over columns, up to blocks of 4,096: [block][kept]
  } kind;
  mlir::Value value;
  /// Where the elements or the parts go; none if another root reads them off the nest.
  std::optional<BufferSlot> slot;
  int node = -1;
  int buffer = -1;

  bool isParts() const { return kind == RowParts || kind == LaneParts; }
};

/// What a target asks of nests.
struct NestRules {
  /// Sums of columns have nests of their own where rows are reduced, too: on a GPU each of the two
  /// wants other threads, and a block of rows in one nest would have few.
  bool sumsApart = false;
  /// Blocks of fewer long rows than this are shared out among the workers; of half as many rows, if
  /// rows that are not long have several blocks.
  int64_t fewRows = 16;
  /// Elements of a long row, and of one that has several blocks.
  int64_t longRow = 8 * laneBlock, severalBlocks = 8 * laneBlock;
};

/// Where the values that a nest may read lie, and the parts of reductions that it may finish.
struct Leaves {
  llvm::DenseMap<mlir::Value, BufferSlot> stored;
  struct Parts {
    BufferSlot slot;
    int64_t count;
  };
  llvm::DenseMap<mlir::Value, Parts> parts;
  /// The result of the contraction whose blocks the nest runs over, if it does.
  mlir::Value tile;
  NestRules rules = {};
};

struct Graph {
  Shape shape;
  llvm::SmallVector<Symbol> symbols;
  std::vector<Node> nodes;
  llvm::SmallVector<Root> roots;
  llvm::SmallVector<BufferSlot> buffers;

  bool has(Node::Kind kind) const;
  bool hasReductions() const { return has(Node::Reduce); }
  /// The symbol of the innermost factor of the columns.
  unsigned innermost() const;
  llvm::SmallBitVector variationOf(const Affine &affine) const;
  Level levelOf(const llvm::SmallBitVector &symbols) const;
  Level levelOf(const Affine &affine) const { return levelOf(variationOf(affine)); }
  /// All nodes that a node reads: operands, then computed indices.
  llvm::SmallVector<int> inputsOf(int number) const;
  llvm::SmallVector<int> indicesOf(const Affine &affine) const;
  /// Positions in a row-major value with an element per iteration, and over outer and rows.
  Affine position() const;
  Affine rowPosition() const;
};

/// Why a graph cannot be built: `cut`, if not null, must be stored by an earlier nest.
struct Obstacle {
  mlir::Value cut;
  /// The reduction that is in the way could run in a nest of its own.
  bool misplaced = false;
};

/// Builds the graph of roots over a shape whose factors fall apart as views need it.
mlir::FailureOr<Graph> buildGraph(Shape shape, llvm::ArrayRef<Root> roots, const Leaves &leaves,
                                  Obstacle &obstacle);

/// How a reduction is done.
enum class ReductionMode {
  InRow,     // within a nest, over its columns
  Sequence,  // within an element, over few rows
  RowParts,  // blocks of rows, then a second nest
  LaneParts, // blocks of columns of few long rows, then a second nest
};
struct ReductionInfo {
  ReductionMode mode;
  ReductionKind kind;
  /// [outer, rows, columns] of a nest that reduces rows, or [-, kept, reduced].
  Shape shape;
  int64_t kept, reduced;
  /// Blocks of the canonical order.
  int64_t blocks;
  bool ends() const { return mode == ReductionMode::RowParts || mode == ReductionMode::LaneParts; }
};
ReductionInfo getReductionInfo(ReductionOpInterface op, const NestRules &rules);

} // namespace reprise::nests

#endif // REPRISE_CONVERSION_LOOPNEST_GRAPH_H
