// The subcommands of `hearth`, one file each. Each returns the exit status.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace hearth::cli {

// Exit statuses of our own, kept apart from what programs commonly return; those of a program pass through.
inline constexpr int kExitDiffers = 1;  // `hearth check` has found something
inline constexpr int kExitFailed = 1;   // something could not be written, or was interrupted
inline constexpr int kExitUsage = 2;    // bad arguments
inline constexpr int kExitVerify = 3;   // the program ended well, but --verify found that Hearth did not serve it all
inline constexpr int kExitNotExecutable = 126;  // as shells have it
inline constexpr int kExitNotFound = 127;

struct RunRequest {
  std::vector<std::string> command;
  std::string distribute;  // HEARTH_DISTRIBUTE; empty: as the environment says
  std::string policy;      // empty: as the environment says
  std::string threads;     // OMP_NUM_THREADS; empty: as the environment says
  bool learn = false;
  std::string learned_file;  // where that is kept; empty: in the user's cache folder
  std::string places_from;           // a recording whose threads decide OMP_PLACES; empty: as the environment says
  std::string mapper = "treematch";  // that makes those
  bool energy = false;
  std::string energy_model;  // that estimates where nothing measures
  bool verify = false;
  std::string verify_file;  // where the JSON goes; empty: printed only
  bool explain = false;
  std::string explain_file;  // empty: standard error
};

/// `afterwards` is called when the program has ended, before this process ends like it.
int run_main(const RunRequest& request, const std::function<void()>& afterwards = {});

/// `hearth check`: run_main(), and then what the tasks touched: as text on standard error, or as JSON in a
/// file (empty: standard output).
int check_main(const RunRequest& request, bool json, const std::string& json_file);

struct EnvRequest {
  bool json = false;
  bool changed = false;            // only what the environment sets
  std::vector<std::string> names;  // only these options; empty: all
};
int env_main(const EnvRequest& request);

}  // namespace hearth::cli
