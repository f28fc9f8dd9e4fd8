// reprise: Checkmate's integer program, solved by CBC, as an oracle for tests
#ifndef REPRISE_TEST_PLANNING_CHECKMATEPROGRAM_H
#define REPRISE_TEST_PLANNING_CHECKMATEPROGRAM_H

#include "reprise/Planning/Checkpoint/Graph/Graph.h"

#include <coin/Cbc_C_Interface.h>

namespace reprise::checkpoint::test {

/// Integer program of Jain et al., Checkmate, MLSys 2020, (1) to (9), in the frontier-advancing
/// form of section 4.6. Stage t runs operation t, after replays of earlier ones, each at most once
/// and in order. Each operation must have one result. Only the half of equation (8) that says when
/// a value may not be freed is needed.
class CheckmateProgram {
public:
  CheckmateProgram(const Graph &graph, int64_t budget)
      : problem(graph.problem), budget(budget), count(static_cast<int>(problem.operations.size())),
        readers(problem.values.size()), runs(count), kept(count), model(Cbc_newModel()) {
    for (int i = 0; i < count; ++i)
      for (int value : problem.operations[i].operands)
        readers[value].push_back(i);
    for (int t = 0; t < count; ++t)
      for (int i = 0; i <= t; ++i) {
        runs[t].push_back(addChoice(graph.footprint.seconds[i], t == i));
        kept[t].push_back(i < t ? addChoice(0, false) : -1);
      }
    for (int t = 0; t < count; ++t) {
      addSources(t);
      addBytes(t);
    }
  }
  ~CheckmateProgram() { Cbc_deleteModel(model); }
  CheckmateProgram(const CheckmateProgram &) = delete;

  /// Returns the smallest cost; none if no schedule fits.
  std::optional<double> solve() {
    Cbc_setLogLevel(model, 0);
    Cbc_setAllowableGap(model, 0);
    Cbc_solve(model);
    if (!Cbc_isProvenOptimal(model))
      return std::nullopt;
    return Cbc_getObjValue(model);
  }

private:
  struct Row {
    std::vector<int> columns;
    std::vector<double> factors;
    void add(int column, double factor) {
      columns.push_back(column);
      factors.push_back(factor);
    }
  };

  int addColumn(double lower, double upper, double cost, bool isInteger) {
    Cbc_addCol(model, "", lower, upper, cost, isInteger, 0, nullptr, nullptr);
    return columns++;
  }
  int addChoice(double cost, bool isTaken) { return addColumn(isTaken, 1, cost, true); }
  void addRow(const Row &row, char sense, double bound) {
    Cbc_addRow(model, "", static_cast<int>(row.columns.size()), row.columns.data(),
               row.factors.data(), sense, bound);
  }

  /// Adds (1b) and (1c): an operand runs earlier in the stage, or is kept from the last stage; a
  /// kept value ran in the last stage, or was kept for it.
  void addSources(int t) {
    for (int i = 0; i <= t; ++i)
      for (int operand : problem.operations[i].operands) {
        Row row;
        row.add(runs[t][i], 1);
        row.add(runs[t][operand], -1);
        row.add(kept[t][operand], -1);
        addRow(row, 'L', 0);
      }
    for (int i = 0; i < t; ++i) {
      Row row;
      row.add(kept[t][i], 1);
      row.add(runs[t - 1][i], -1);
      if (i < t - 1)
        row.add(kept[t - 1][i], -1);
      addRow(row, 'L', 0);
    }
  }

  /// Adds a variable that is 1 only if operation k runs in stage t, is the last operation there to
  /// read or to compute the value, and the next stage does not keep the value.
  int addFreed(int t, int value, int k) {
    int freed = addColumn(0, 1, 0, true);
    Row hazards;
    double most = 1;
    hazards.add(runs[t][k], -1);
    auto add = [&](int column) {
      hazards.add(column, 1);
      ++most;
    };
    if (t + 1 < count)
      add(kept[t + 1][value]);
    for (int reader : readers[value])
      if (reader > k && reader <= t)
        add(runs[t][reader]);
    hazards.add(freed, most);
    addRow(hazards, 'L', most - 1);
    return freed;
  }

  /// (3) to (5): the bytes before and with each run of a stage.
  void addBytes(int t) {
    Row row; // bytes during run k, minus the budget
    for (int i = 0; i < t; ++i)
      row.add(kept[t][i], static_cast<double>(problem.values[i].bytes));
    for (int k = 0; k <= t; ++k) {
      int with = addColumn(0, static_cast<double>(budget), 0, false);
      row.add(runs[t][k], static_cast<double>(problem.values[k].bytes));
      row.add(with, -1);
      addRow(row, 'E', 0);
      row = Row();
      row.add(with, 1);
      std::vector<int> ending = problem.operations[k].operands;
      ending.push_back(k);
      for (int value : ending)
        row.add(addFreed(t, value, k), -static_cast<double>(problem.values[value].bytes));
    }
  }

  const Problem &problem;
  int64_t budget;
  int count;
  int columns = 0;
  std::vector<std::vector<int>> readers;
  std::vector<std::vector<int>> runs, kept; ///< columns, by stage and operation
  Cbc_Model *model;
};

} // namespace reprise::checkpoint::test

#endif // REPRISE_TEST_PLANNING_CHECKMATEPROGRAM_H
