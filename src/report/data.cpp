// See data.h.
#include "report/data.h"

#include <algorithm>

#include "report/advice.h"
#include "report/compare.h"
#include "report/costs.h"
#include "report/json_text.h"

namespace hearth::report {
namespace {

void put_time(JsonText& to, const TimeShares& time) {
  to.member("work_ns", time.work).member("creating_ns", time.creating).member("waiting_ns", time.waiting);
  to.member("outside_ns", time.outside);
}

void put_screen(JsonText& to, const FirstScreen& screen) {
  to.key("answers").open_array();
  for (const Answer& a : screen.answers)
    to.open_object()
        .member("question", a.question)
        .member("figure", a.figure)
        .member("sentence", a.sentence)
        .close_object();
  to.close_array().key("costs").open_array();
  for (const Cost& c : screen.costs)
    to.open_object()
        .member("what", c.what)
        .member("detail", c.detail)
        .member("share", c.share)
        .member("part", c.part)
        .close_object();
  to.close_array().key("changes").open_array();
  for (const Change& c : screen.changes)
    to.open_object()
        .member("what", c.what)
        .member("where", c.where)
        .member("how", c.how)
        .member("gain", c.gain)
        .close_object();
  to.close_array().member("no_change", screen.no_change).values("lacks", screen.lacks);
}

void put_run(JsonText& to, const Run& run, const Figures& figures) {
  to.key("run").open_object();
  to.member("command", run.command).member("runtime", run.runtime).member("hearth", run.hearth);
  to.member("schema", run.schema).member("recorded_ns", run.recorded_ns).member("nodes", run.nodes);
  to.member("begin_ns", figures.begin).member("end_ns", figures.end).member("length_ns", figures.length());
  to.member("thread_time_ns", figures.thread_time()).member("parallelism", figures.average_parallelism());
  to.member("explicit_tasks", figures.explicit_tasks).member("regions", run.regions);
  to.member("counters", run.counters).member("declares", !run.declared.empty());
  put_time(to, figures.time);
  to.key("processes").open_array();
  for (const Process& p : run.processes)
    to.open_object()
        .member("pid", p.pid)
        .member("host", p.host)
        .member("command", p.command)
        .member("complete", p.complete)
        .close_object();
  to.close_array().close_object();
}

void put_threads(JsonText& to, const Run& run, const Figures& figures) {
  to.key("threads").open_array();
  for (const ThreadFigures& figure : figures.threads) {
    const Thread& thread = run.threads[static_cast<std::size_t>(figure.thread)];
    to.open_object().member("id", figure.thread).member("process", thread.process).member("number", thread.number);
    to.member("type", thread.type).member("node", figure.node).member("tasks", figure.tasks);
    put_time(to, figure.time);
    to.close_object();
  }
  to.close_array();
}

void put_constructs(JsonText& to, const Run& run, const Figures& figures) {
  to.key("constructs").open_array();
  for (const ConstructFigures& c : figures.constructs) {
    const ConstructName& name = run.constructs[static_cast<std::size_t>(c.construct)];
    to.open_object().member("id", c.construct).member("name", name.name).member("kind", name.kind);
    to.member("function", name.function).member("file", name.file).member("line", name.line).member("tasks", c.tasks);
    to.member("work_ns", c.work).member("least_ns", c.least).member("most_ns", c.most).member("wait_ns", c.wait);
    to.member("create_ns", c.create)
        .member("creation_ns", c.creation)
        .member("delays", c.delays)
        .member("delay_ns", c.delay);
    to.member("declared_bytes", c.declared)
        .member("threads", c.threads)
        .member("imbalance", c.imbalance)
        .close_object();
  }
  to.close_array();
}

void put_waits(JsonText& to, const Run& run, const Figures& figures) {
  to.key("waits").open_array();
  for (const WaitFigures& w : figures.waits) {
    const WaitPlace& place = run.wait_places[static_cast<std::size_t>(w.place)];
    to.open_object()
        .member("id", w.place)
        .member("kind", place.kind)
        .member("name", place.name)
        .member("words", wait_words(place));
    to.member("waits", w.waits)
        .member("ns", w.time)
        .member("idle_ns", w.idle)
        .member("longest_ns", w.longest)
        .close_object();
  }
  to.close_array().key("idle_ready").open_object().member("ns", figures.idle_ready.time).key("constructs").open_array();
  for (std::size_t c = 0; c < figures.idle_ready.constructs.size(); ++c) {
    const IdleReady::OfConstruct& of = figures.idle_ready.constructs[c];
    if (of.tasks == 0) continue;
    to.open_object().member("id", static_cast<std::int64_t>(c)).member("ns", of.time).member("dealt_ns", of.dealt);
    to.member("tasks", of.tasks).member("passed_over_ns", of.passed_over).close_object();
  }
  to.close_array().close_object().key("loops").open_array();
  for (const LoopFigures& l : figures.loops)
    to.open_object()
        .member("kind", l.kind)
        .member("name", l.name)
        .member("times", l.times)
        .member("iterations", l.iterations)
        .member("ns", l.time)
        .member("imbalance", l.imbalance)
        .close_object();
  to.close_array();
}

void put_most(JsonText& to, const char* what, const std::vector<double>& by_location) {
  const AllocationUse::Most most = AllocationUse::most_of(by_location);
  to.key(what).open_object().member("location", most.location).member("part", most.part).values("by", by_location);
  to.close_object();
}

void put_use(JsonText& to, const AllocationUse& use) {
  to.member("readers", use.readers).member("writers", use.writers).member("read_bytes", use.read);
  to.member("written_bytes", use.written).member("remote_share", use.remote_share());
  to.member("first_toucher", use.first_toucher).member("first_part", use.first_part);
  put_most(to, "touched", use.touched_at);
  put_most(to, "lies", use.home_at);
  put_most(to, "used", use.used_at);
}

void put_memory(JsonText& to, const Run& run, const Locality& locality, const Advice& advice) {
  to.key("allocations").open_array();
  for (std::size_t i = 0; i < run.allocations.size(); ++i) {
    const Allocation& a = run.allocations[i];
    to.open_object()
        .member("id", a.id)
        .member("name", a.site)
        .member("bytes", a.bytes)
        .member("thread", a.thread)
        .member("allocated_ns", a.when)
        .member("own", a.own)
        .member("distribution", a.distribution);
    put_use(to, run.uses[i]);
    const auto advised = std::find_if(advice.allocations.begin(), advice.allocations.end(),
                                      [&](const Advice::Allocation& one) {
                                        return std::find(one.sites.begin(), one.sites.end(), a.site) != one.sites.end();
                                      });
    to.member("advised", advised == advice.allocations.end() ? std::string() : advised->distribution).close_object();
  }
  to.close_array().key("moves").open_array();
  for (const Move& m : run.moves)
    to.open_object()
        .member("ns", m.when)
        .member("thread", m.thread)
        .member("what", m.what)
        .member("why", m.why)
        .member("count", m.count)
        .member("location", m.location)
        .close_object();
  to.close_array()
      .key("locality")
      .open_object()
      .member("known", locality.known)
      .member("why_unknown", locality.why_unknown);
  to.member("locations", locality.locations).member("bytes", locality.all).member("remote_bytes", locality.remote);
  to.member("unknown_bytes", locality.unknown)
      .member("machine", run.places.machine)
      .member("policy", run.places.policy);
  to.member("pretended", run.places.pretended).member("distances_from", run.places.distances_from);
  to.values("matrix", run.places.matrix).values("distance", run.places.distance);
  to.key("constructs").open_array();
  for (const ConstructLocality& c : locality.constructs)
    to.open_object()
        .member("id", c.construct)
        .member("bytes", c.all)
        .member("remote_bytes", c.remote)
        .member("unknown_bytes", c.unknown)
        .member("weighted", c.weighted)
        .member("decided", c.decided)
        .member("stayed", c.stayed)
        .member("dealt", c.dealt)
        .member("elsewhere", c.elsewhere)
        .member("near_tasks", c.near.tasks)
        .member("near_work_ns", c.near.work)
        .member("far_tasks", c.far.tasks)
        .member("far_work_ns", c.far.work)
        .close_object();
  to.close_array().key("whys").open_array();
  for (std::size_t i = 0; i < locality.whys.size(); ++i)
    to.open_object()
        .member("why", run.places.whys[i])
        .member("text", why_text(run.places.whys[i]))
        .member("decisions", locality.whys[i])
        .close_object();
  to.close_array().close_object();
}

}  // namespace

std::string read_subject(const std::string& path, Subject& out, const Advice* advice) {
  if (std::string wrong = read_run(path, out.run); !wrong.empty()) return wrong;
  out.figures = figures_of(out.run);
  out.locality = locality_of(out.run);
  out.advice = advice != nullptr ? *advice : advice_by_rules(out.run, out.figures);
  out.screen = first_screen(out.run, out.figures, out.locality, out.advice);
  return {};
}

std::string data_json(const Subject& subject, const Timeline* timeline, const Subject* other) {
  JsonText to;
  to.open_object().member("title", subject.screen.title).member("facts", subject.screen.facts).member("warning", subject.screen.warning);
  put_screen(to, subject.screen);
  put_run(to, subject.run, subject.figures);
  put_threads(to, subject.run, subject.figures);
  put_constructs(to, subject.run, subject.figures);
  put_waits(to, subject.run, subject.figures);
  put_memory(to, subject.run, subject.locality, subject.advice);
  to.key("parallelism").open_object().values("running", subject.figures.parallelism.running);
  to.values("available", subject.figures.parallelism.available).close_object();
  if (other != nullptr) put_comparison(to, subject, *other, compare(subject, *other));
  if (timeline != nullptr)
    to.key("timeline")
        .open_object()
        .member("step", timeline->step)
        .member("pieces", timeline->pieces)
        .member("tells_delays", timeline->tells_delays)
        .member("overview", kOverview)
        .close_object();
  to.close_object();
  return to.text();
}

}  // namespace hearth::report
