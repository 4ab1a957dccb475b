// Processes of an MPI job: `mpirun -n 2 hearth record -- ./app` runs two of us at once, which must not share a file.
// Reads the variables that launchers set; touches nothing else.
#pragma once

#include <string>

namespace hearth::cli {

/// The rank as the launcher has it (Open MPI, PMIx, MPICH and Intel MPI, Slurm); empty: no job, or one of one process.
std::string job_rank();

/// A file's name for this process: %r becomes the rank (0 outside of a job), %p the process's number, %% a percent sign.
/// In a job a name without %r and %p gets the rank before its ending: "app.db" -> "app.1.db". Empty: no file, so empty.
std::string file_of_this_rank(const std::string& name);

}  // namespace hearth::cli
