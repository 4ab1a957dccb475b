// `zoltan`: Zoltan's hypergraph partitioner (PHG) parts the threads, so that few shared objects have threads in several
// parts; which part goes to which cores is ours (parts.h).
//
// Debian's Zoltan needs MPI, which takes over the process that starts it: it ends it where something fails, has threads
// and says what it likes on stderr. So a child process starts MPI, alone, and answers for as long as we live.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "mappers/foreign.h"
#include "mappers/parts.h"

#ifdef HEARTH_HAS_ZOLTAN
#define OMPI_SKIP_MPICXX 1  // C++ classes that would have to be linked
#define MPICH_SKIP_MPICXX 1
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zoltan.h>
#endif

namespace hearth::mappers {

#ifdef HEARTH_HAS_ZOLTAN
namespace {

constexpr time_t kPatience = 60;  // seconds that an answer may take

/// A hypergraph, on its way to the child.
struct Question {
  std::uint32_t parts = 0;
  std::vector<float> load;           // by thread
  std::vector<float> weight;         // by object
  std::vector<int> first;            // by object: where its threads are in `pins`
  std::vector<ZOLTAN_ID_TYPE> pins;  // threads
};
enum class Answer : std::int32_t { parted, no_library, no_mpi, refused, silent };

bool send_all(int to, const void* data, std::size_t bytes) {
  for (const char* at = static_cast<const char*>(data); bytes > 0;) {
    const ssize_t sent = send(to, at, bytes, MSG_NOSIGNAL);
    if (sent <= 0) return false;
    at += sent;
    bytes -= static_cast<std::size_t>(sent);
  }
  return true;
}

bool receive_all(int from, void* data, std::size_t bytes) {
  for (char* at = static_cast<char*>(data); bytes > 0;) {
    const ssize_t got = recv(from, at, bytes, 0);
    if (got <= 0) return false;
    at += got;
    bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

template <class T>
bool send_list(int to, const std::vector<T>& list) {
  const std::uint64_t size = list.size();
  return send_all(to, &size, sizeof size) && send_all(to, list.data(), size * sizeof(T));
}

template <class T>
bool receive_list(int from, std::vector<T>& list) {
  std::uint64_t size = 0;
  if (!receive_all(from, &size, sizeof size)) return false;
  list.resize(size);
  return receive_all(from, list.data(), size * sizeof(T));
}

/// The functions of the libraries that are used, and MPI's communicator of one process.
struct Functions {
  decltype(MPI_Init)* mpi_init;
  decltype(MPI_Finalize)* mpi_finalize;
  decltype(Zoltan_Initialize)* initialize;
  decltype(Zoltan_Create)* create;
  decltype(Zoltan_Destroy)* destroy;
  decltype(Zoltan_Set_Param)* set_param;
  decltype(Zoltan_Set_Num_Obj_Fn)* set_num_obj;
  decltype(Zoltan_Set_Obj_List_Fn)* set_obj_list;
  decltype(Zoltan_Set_HG_Size_CS_Fn)* set_size_cs;
  decltype(Zoltan_Set_HG_CS_Fn)* set_cs;
  decltype(Zoltan_Set_HG_Size_Edge_Wts_Fn)* set_size_weights;
  decltype(Zoltan_Set_HG_Edge_Wts_Fn)* set_weights;
  decltype(Zoltan_LB_Partition)* partition;
  decltype(Zoltan_LB_Free_Part)* free_part;
  MPI_Comm self;

  bool find(const ForeignLibrary& from) {
#ifdef OPEN_MPI
    const bool found = from.find("ompi_mpi_comm_self", self);  // MPI_COMM_SELF names this, and would have to be linked
#else
    const bool found = (self = MPI_COMM_SELF, true);
#endif
    return found && from.find("MPI_Init", mpi_init) && from.find("MPI_Finalize", mpi_finalize) &&
           from.find("Zoltan_Initialize", initialize) && from.find("Zoltan_Create", create) &&
           from.find("Zoltan_Destroy", destroy) && from.find("Zoltan_Set_Param", set_param) &&
           from.find("Zoltan_Set_Num_Obj_Fn", set_num_obj) && from.find("Zoltan_Set_Obj_List_Fn", set_obj_list) &&
           from.find("Zoltan_Set_HG_Size_CS_Fn", set_size_cs) && from.find("Zoltan_Set_HG_CS_Fn", set_cs) &&
           from.find("Zoltan_Set_HG_Size_Edge_Wts_Fn", set_size_weights) &&
           from.find("Zoltan_Set_HG_Edge_Wts_Fn", set_weights) && from.find("Zoltan_LB_Partition", partition) &&
           from.find("Zoltan_LB_Free_Part", free_part);
  }
};

// What Zoltan asks for; `data` is the question.
const Question& asked(void* data) { return *static_cast<const Question*>(data); }

int count_threads(void* data, int* error) {
  *error = ZOLTAN_OK;
  return static_cast<int>(asked(data).load.size());
}

void list_threads(void* data, int, int, ZOLTAN_ID_PTR ids, ZOLTAN_ID_PTR, int, float* weights, int* error) {
  const Question& question = asked(data);
  for (std::size_t t = 0; t < question.load.size(); ++t) {
    ids[t] = static_cast<ZOLTAN_ID_TYPE>(t);
    weights[t] = question.load[t];
  }
  *error = ZOLTAN_OK;
}

void count_pins(void* data, int* lists, int* pins, int* format, int* error) {
  *lists = static_cast<int>(asked(data).weight.size());
  *pins = static_cast<int>(asked(data).pins.size());
  *format = ZOLTAN_COMPRESSED_EDGE;
  *error = ZOLTAN_OK;
}

void list_pins(void* data, int, int lists, int pins, int, ZOLTAN_ID_PTR objects, int* first, ZOLTAN_ID_PTR threads,
               int* error) {
  const Question& question = asked(data);
  for (int object = 0; object < lists; ++object) {
    objects[object] = static_cast<ZOLTAN_ID_TYPE>(object);
    first[object] = question.first[static_cast<std::size_t>(object)];
  }
  std::copy_n(question.pins.begin(), pins, threads);
  *error = ZOLTAN_OK;
}

void count_objects(void* data, int* objects, int* error) {
  *objects = static_cast<int>(asked(data).weight.size());
  *error = ZOLTAN_OK;
}

void list_weights(void* data, int, int, int count, int, ZOLTAN_ID_PTR objects, ZOLTAN_ID_PTR, float* weights,
                  int* error) {
  for (int object = 0; object < count; ++object) {
    objects[object] = static_cast<ZOLTAN_ID_TYPE>(object);
    weights[object] = asked(data).weight[static_cast<std::size_t>(object)];
  }
  *error = ZOLTAN_OK;
}

bool part(const Functions& call, Question& question, Groups& part_of) {
  Zoltan_Struct* zoltan = call.create(call.self);
  if (zoltan == nullptr) return false;
  const std::string parts = std::to_string(question.parts);
  // Objects of many threads count, too: Zoltan leaves those out that have more than a quarter of all.
  const std::pair<const char*, const char*> settings[] = {{"DEBUG_LEVEL", "0"},
                                                          {"LB_METHOD", "HYPERGRAPH"},
                                                          {"HYPERGRAPH_PACKAGE", "PHG"},
                                                          {"LB_APPROACH", "PARTITION"},
                                                          {"NUM_GLOBAL_PARTS", parts.c_str()},
                                                          {"RETURN_LISTS", "PARTS"},
                                                          {"NUM_GID_ENTRIES", "1"},
                                                          {"NUM_LID_ENTRIES", "1"},
                                                          {"OBJ_WEIGHT_DIM", "1"},
                                                          {"EDGE_WEIGHT_DIM", "1"},
                                                          {"PHG_EDGE_SIZE_THRESHOLD", "1.0"},
                                                          {"SEED", "1"}};
  bool good = true;
  for (const auto& [name, value] : settings) good = good && call.set_param(zoltan, name, value) == ZOLTAN_OK;
  call.set_num_obj(zoltan, count_threads, &question);
  call.set_obj_list(zoltan, list_threads, &question);
  call.set_size_cs(zoltan, count_pins, &question);
  call.set_cs(zoltan, list_pins, &question);
  call.set_size_weights(zoltan, count_objects, &question);
  call.set_weights(zoltan, list_weights, &question);
  int changes = 0, id_entries = 0, local_entries = 0, coming = 0, count = 0;
  ZOLTAN_ID_PTR coming_ids = nullptr, coming_local = nullptr, ids = nullptr, local = nullptr;
  int *coming_from = nullptr, *coming_parts = nullptr, *processes = nullptr, *to_part = nullptr;
  // A warning says that the parts are less equal than they should be: few threads with different loads often are.
  good = good && call.partition(zoltan, &changes, &id_entries, &local_entries, &coming, &coming_ids, &coming_local,
                                &coming_from, &coming_parts, &count, &ids, &local, &processes, &to_part) >= ZOLTAN_OK;
  good = good && static_cast<std::size_t>(count) == question.load.size();
  if (good) {
    part_of.assign(question.load.size(), 0);
    for (int n = 0; n < count; ++n) part_of[ids[n]] = static_cast<std::uint32_t>(to_part[n]);
  }
  call.free_part(&coming_ids, &coming_local, &coming_from, &coming_parts);
  call.free_part(&ids, &local, &processes, &to_part);
  call.destroy(&zoltan);
  return good;
}

/// What the child does, until its parent is gone.
[[noreturn]] void answer(int parent) {
  const auto say = [parent](Answer what) { return send_all(parent, &what, sizeof what); };
  const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int output : {STDOUT_FILENO, STDERR_FILENO}) dup2(nowhere, output);
  // One process that needs no network starts in a tenth of the time. What the user has set stays.
  setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
  setenv("OMPI_MCA_pml", "ob1", 0);
  setenv("OMPI_MCA_btl", "self", 0);
  const ForeignLibrary library{"libtrilinos_zoltan.so.13.2", "libtrilinos_zoltan.so"};
  Functions call{};
  if (!library.is_open() || !call.find(library)) {
    say(Answer::no_library);
    _exit(1);
  }
  // Where MPI does not start it ends this process, and the parent sees that nobody answers.
  float version = 0;
  if (call.mpi_init(nullptr, nullptr) != MPI_SUCCESS || call.initialize(0, nullptr, &version) != ZOLTAN_OK) {
    say(Answer::no_mpi);
    _exit(1);
  }
  say(Answer::parted);
  Question question;
  while (receive_all(parent, &question.parts, sizeof question.parts) && receive_list(parent, question.load) &&
         receive_list(parent, question.weight) && receive_list(parent, question.first) &&
         receive_list(parent, question.pins)) {
    Groups part_of;
    const bool good = part(call, question, part_of);
    if (!say(good ? Answer::parted : Answer::refused) || (good && !send_list(parent, part_of))) break;
  }
  call.mpi_finalize();
  _exit(0);
}

/// The child, from the first question on.
class Child {
 public:
  Child() {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return;
    child_ = fork();
    if (child_ == 0) {
      close(ends[0]);
      answer(ends[1]);
    }
    close(ends[1]);
    line_ = ends[0];
    const timeval patience{.tv_sec = kPatience, .tv_usec = 0};
    setsockopt(line_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    // Without a word it has been ended by MPI.
    if (child_ < 0 || !receive_all(line_, &state_, sizeof state_)) state_ = Answer::no_mpi;
  }
  ~Child() {
    if (line_ >= 0) close(line_);
    if (child_ > 0) waitpid(child_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  Answer ask(const Question& question, Groups& part_of) {
    if (state_ != Answer::parted) return state_;
    Answer what = Answer::silent;
    const bool heard = send_all(line_, &question.parts, sizeof question.parts) && send_list(line_, question.load) &&
                       send_list(line_, question.weight) && send_list(line_, question.first) &&
                       send_list(line_, question.pins) && receive_all(line_, &what, sizeof what);
    if (!heard || (what == Answer::parted && !receive_list(line_, part_of))) what = state_ = Answer::silent;
    return what;
  }

 private:
  pid_t child_ = -1;
  int line_ = -1;
  Answer state_ = Answer::no_mpi;
};

Question question_of(const Graph& graph, std::uint32_t parts) {
  Question question;
  question.parts = parts;
  for (const double load : graph.load) question.load.push_back(static_cast<float>(std::max(load, 1e-6)));
  for (const SharedObject& object : graph.objects) {
    question.weight.push_back(static_cast<float>(object.weight));
    question.first.push_back(static_cast<int>(question.pins.size()));
    for (const Thread thread : object.threads) question.pins.push_back(thread);
  }
  return question;
}

}  // namespace

std::string zoltan_parts(const Graph& graph, std::uint32_t parts, Groups& part_of) {
  static Child child;
  part_of.assign(graph.size(), 0);
  Groups found = part_of;
  const Answer what = child.ask(question_of(graph, parts), found);
  if (what == Answer::no_library) return not_installed("libtrilinos_zoltan.so.13.2", "libtrilinos-zoltan-13.2");
  if (what == Answer::no_mpi) return "it needs MPI, which does not start here";
  if (what == Answer::refused) return "Zoltan refuses the graph";
  if (what == Answer::silent) return "Zoltan has ended without an answer";
  part_of = std::move(found);
  return {};
}

#else

std::string zoltan_parts(const Graph&, std::uint32_t, Groups&) {
  return not_built_in("zoltan", "libtrilinos-zoltan-dev");
}

#endif

Mapping map_zoltan(const Graph& graph, const Target& target) { return map_parts(graph, target, zoltan_parts); }

}  // namespace hearth::mappers
