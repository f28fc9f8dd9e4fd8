// reprise: all orders of a set in which given subsets are contiguous (a PQ-tree, Booth and Lueker
// 1976)
#ifndef REPRISE_LIB_PLANNING_OFFSETS_ORDERTREE_H
#define REPRISE_LIB_PLANNING_OFFSETS_ORDERTREE_H

#include <cstdint>
#include <vector>

namespace reprise::offsets {

/// A node stands for orders of its leaves. A node that is fixed keeps its children in their order
/// or in the reverse one; the children of another one may come in any order.
class OrderTree {
public:
  /// Allows any order of these leaves.
  explicit OrderTree(const std::vector<int32_t> &leaves);

  /// Keeps the orders in which the marked leaves are contiguous. Returns false, with an unusable
  /// tree, if there is none.
  bool gather(const std::vector<char> &isMarked);

  /// Replaces the gathered leaves by these leaves in any order.
  void replace(const std::vector<char> &isMarked, const std::vector<int32_t> &leaves);

  /// Turns the tree so that its leaves come by rising rank, as far as its orders permit.
  void turn(const std::vector<int32_t> &rank);

  std::vector<int32_t> leaves() const;

  /// Returns a hash that is equal for trees of the same orders.
  uint64_t digest() const { return digest(root); }
  /// The logarithm of the number of orders.
  double freedom() const { return freedom(root); }

private:
  struct Node {
    int32_t leaf = -1;
    bool isFixed = false;
    std::vector<Node> children;
    int32_t marked = 0, count = 1; // numbers of leaves
    bool isFull() const { return marked == count; }
    bool isEmpty() const { return marked == 0; }
  };
  using Nodes = std::vector<Node>;

  static Node makeFree(Nodes nodes);
  static void count(Node &node, const std::vector<char> &isMarked);
  static bool gatherAt(Node &root);
  static bool gatherFree(Node &root);
  static bool gatherFixed(Node &root);
  static bool flatten(Node node, Nodes &result);
  static void replaceIn(Node &node, Node &with);
  static int32_t turnNode(Node &node, const std::vector<int32_t> &rank);
  static uint64_t digest(const Node &node);
  static double freedom(const Node &node);
  static void list(const Node &node, std::vector<int32_t> &result);

  Node root;
};

} // namespace reprise::offsets

#endif // REPRISE_LIB_PLANNING_OFFSETS_ORDERTREE_H
