#include "runtime/tools/told_bytes.h"

#include "runtime/state/footprint_ranges.h"
#include "runtime/state/task.h"

namespace hearth::rt::told_bytes {

constinit hearth_ompt_callback_decision_t callback = nullptr;

namespace {

void tell(Task* task, const hearth_ompt_decision_t& decision, const placement::Need& need) {
  hearth_ompt_bytes_t list[placement::kMaxLocations + 1];
  std::size_t count = 0;
  const auto add = [&](int location, std::uint64_t read, std::uint64_t written) {
    if ((read | written) != 0) list[count++] = {location, read, written};
  };
  for (std::int32_t i = 0; i < need.read.locations; ++i) add(i, need.read.at[i], need.written.at[i]);
  add(-1, need.read.unknown, need.written.unknown);
  task->footprint->told = true;
  callback(reinterpret_cast<ompt_data_t*>(&task->ompt_task_data), &decision, list, count);
}

}  // namespace

void decided(Task* task, const policy::Decision& decision, policy::Why why) {
  tell(task,
       {.asked = 1,
        .released = decision.released,
        .stated = decision.stated,
        .location = decision.creator,
        .chosen = decision.chosen,
        .why = static_cast<int>(why)},
       decision.need);
}

void ended(Task* task, const placement::Need& need) {
  tell(task, {.asked = 0, .released = 0, .stated = task->footprint->stated, .location = -1, .chosen = -1, .why = 0},
       need);
}

}  // namespace hearth::rt::told_bytes
