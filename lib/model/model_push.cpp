// Model: rows that come in any number, gathered into streams.
#include <algorithm>

#include "base/bounds.h"
#include "model/model.h"

namespace adapvae {

Status Model::push(Backend& backend, ConstMatrixView rows, double time, StreamReport* report,
                   Index* streams_learnt) {
  *streams_learnt = 0;
  if (!within(time, kLargestNumber) || (has_time() && time < latest_time())) {
    return {StatusCode::kInvalidArgument, "time must not run backwards"};
  }
  if (rows.rows == 0) return {};
  ADAPVAE_RETURN_IF_ERROR(check_stream(rows, rows.rows));
  const Index d = config_.inputs;
  for (Index begin = 0; begin < rows.rows;) {
    const Index before = waiting_;
    const double time_before = waiting_time_;
    const Index count = std::min<Index>(config_.block_rows - waiting_, rows.rows - begin);
    for (Index i = 0; i < count; ++i) {
      std::copy_n(rows.row(begin + i), d, all_ + (waiting_ + i) * d);
    }
    begin += count;
    waiting_ += count;
    waiting_time_ = time;
    if (waiting_ == config_.block_rows) {
      const Status status = flush(backend, report);
      if (!status.ok()) {
        waiting_ = before;
        waiting_time_ = time_before;
        return status;
      }
      ++*streams_learnt;
    }
  }
  return {};
}

Status Model::rows_wait() {
  return {StatusCode::kInvalidArgument, "rows that were pushed wait: flush first"};
}

Status Model::flush(Backend& backend, StreamReport* report) {
  if (waiting_ == 0) return {};
  const ConstMatrixView rows(all_, waiting_, config_.inputs);
  waiting_ = 0;
  const Status status = learn(backend, rows, report, waiting_time_);
  if (!status.ok()) waiting_ = rows.rows;
  return status;
}

}  // namespace adapvae
