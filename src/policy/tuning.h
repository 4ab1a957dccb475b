// All numbers that were tuned: how long threads search, wait, spin and nap, and what is worth an act of sharing.
//
// Times are nanoseconds (base/clock.h converts), "task times" are multiples of how long a task takes where it lies.
// Each number says where it comes from: *paper* (Muddukrishna, Jonsson, Brorsson 2015), *measured* (docs/results/), or
// *reasoned* (the argument stands beside it). The runtime and the simulator use the same ones. Constants only.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hearth::tuning {

inline constexpr std::uint64_t kUs = 1'000, kMs = 1'000'000;

// ---- Looking for far tasks (policy/patience.h, policy/search.h) ----------------------------------------------------

// Pauses between looks in vain, doubled each time. Paper, 3.2: exponential back-off from 1 to 128 us.
inline constexpr std::uint64_t kFirstPauseNs = 1 * kUs;
inline constexpr std::uint64_t kLongestPauseNs = 128 * kFirstPauseNs;
static_assert(kFirstPauseNs > 0 && kLongestPauseNs % kFirstPauseNs == 0);
// All growing pauses together. An idle worker leaves dealt tasks alone for so long in any case: the next one may be for
// it. Shorter waits say nothing of whether waiting pays. Reasoned.
inline constexpr std::uint64_t kBrieflyNs = 2 * kLongestPauseNs - kFirstPauseNs;
// How many looks in vain a waiter makes before it takes far tasks above the threshold; after twice as many, all. It may
// wait for tasks below every threshold, so it must take them at some time. Reasoned: the 8 pauses that grow.
inline constexpr std::uint32_t kWaiterLooks = 8;

// Patience while tasks are being dealt: at first, and at most; task times. Measured (results/locality.md): one creator
// that deals in the order of its data serves a location for about as many task times as it has blocks.
inline constexpr std::uint32_t kFirstPatience = 32, kMostPatience = 128;
// Quiet patience, the least wait whether or not tasks are being dealt; task times. Measured.
inline constexpr std::uint32_t kMostQuietPatience = 16;
static_assert(kFirstPatience <= kMostPatience);
// Waiting was worth it if the work that came then took so many times as long. Reasoned: one fifth of the time lost.
inline constexpr std::uint64_t kWorthOfWaiting = 4;
// The others keep up with the creator: of at least so many tasks dealt meanwhile no more than one in kKeepUpPart is
// left. Reasoned: so at most a third of the work is late.
inline constexpr std::uint32_t kConclusiveTasks = 64, kKeepUpPart = 3;
// A creator runs so many tasks in a row at most, after a while in which there were none. Reasoned.
inline constexpr std::uint64_t kMostTurns = 8;

// ---- Stealing dealt tasks: policy `locality` -----------------------------------------------------------------------

inline constexpr std::uint64_t kLongestWaitNs = 400 * kBrieflyNs;      // 102 ms, however long tasks take; reasoned
inline constexpr std::uint64_t kLongestQuietWaitNs = 20 * kBrieflyNs;  // 5.1 ms, the most of quiet patience; measured
inline constexpr std::uint64_t kLongestDealingPauseNs = 40 * kBrieflyNs;  // 10.2 ms without a new task end a dealing
// The few tasks that no threshold lets a worker steal: after 1.3 ms and four task times, which is longer than they take
// unless nobody works there. Reasoned.
inline constexpr std::uint64_t kStuckNs = 5 * kBrieflyNs;
inline constexpr std::uint64_t kStuckTasks = 4;
inline constexpr std::uint64_t kUnknownTaskNs = 4 * kBrieflyNs;  // until a task has ended; reasoned: 1 ms
static_assert(kBrieflyNs <= kLongestQuietWaitNs && kStuckNs <= kLongestWaitNs);

// ---- What dealing costs and gains: policies `locality` and `adaptive` ----------------------------------------------

// A task that is dealt costs so much more than one that stays in its creator's own queue: the inbox, the cache lines of
// its descriptor, whom it wakes. Measured.
inline constexpr std::uint64_t kDealNs = 300;
// And one that is stolen. Measured.
inline constexpr std::uint64_t kStealNs = 500;
// What a byte costs more from one step of distance (a tenth of the local latency) further away: 64 bytes come in about
// 8 ns more, and a core has some 10 lines under way. Reasoned.
inline constexpr std::uint64_t kBytesPerStepAndNs = 80;

// Policy `adaptive`; all measured on its tuning set (results/adaptive.md).
inline constexpr double kLeastGainPart = 1.0 / 256;  // of a task: less is not worth the freedom to run it anywhere
inline constexpr double kEvenly = 0.1;           // a place that is better than most by less is no place
inline constexpr std::uint64_t kSlackTasks = 2;  // tasks of uneven length make waits of so many by chance
inline constexpr double kBrieflyInLosses = 8;    // leaves tasks alone for so many times what stealing one costs
inline constexpr double kPatienceInLosses = 2;   // while none are being dealt
inline constexpr double kStuckInBrieflies = 5;
inline constexpr double kUnknownTaskInLosses = 4;  // how long a task takes until one has ended
inline constexpr double kMuchLost = 0.5;           // patience is in full where a task loses so much of its time
inline constexpr std::uint32_t kMostTasksWaited = 16;  // and is no more than so many task times
// Where all memory is equally near, on pretended and emulated machines, what lies far shall count for so many times as
// much: an emulated processor takes about so much longer for a task. Measured (results/adaptive.md).
inline constexpr std::int32_t kSlowdownWhereNothingIsFar = 100;
// A task with several predecessors finds its data in one core's part of a cache if it touches no more than such a part of
// that. Measured on random programs (results/league.md).
inline constexpr std::uint64_t kPartOfSeveral = 32;
inline constexpr std::uint64_t kShortTaskInDeals = 16;  // a task that takes less than so many dealings is not worth one
// Of tasks of which none has ended yet those are worth it that have so many bytes: 115 kB; from a place that is twice as far
// away as local memory they take three times as much longer as a task must take.
inline constexpr std::uint64_t kLargeUntimedBytes = 3 * kShortTaskInDeals * kDealNs * kBytesPerStepAndNs / 10;
// What the tasks of a construct have shown (policy/account.h). Measured on random programs (results/league.md).
inline constexpr std::uint32_t kAskedAtFirst = 32;   // so many are asked about in any case
inline constexpr std::uint64_t kSavedInDeals = 8;    // and more if they save so many dealings each in the mean,
inline constexpr std::uint32_t kAsksRarely = 16;     // else one in so many
inline constexpr std::uint32_t kKnownTimes = 4;      // so many times at home and elsewhere tell enough;
inline constexpr std::uint64_t kBelievedPart = 10;   // they must differ by this part of what was foretold
// One in so many runs where it would not: at first, when each worker may have had kTriesAfter, and later. Measured.
inline constexpr std::uint32_t kTriesAtFirst = 8, kTriesLater = 128, kTriesAfter = 4;
inline constexpr std::uint32_t kSavedFollows = 32, kTimesFollow = 16;  // means follow by such parts
// From so many times on only one in kNotesRarely is noted: all threads share the line. Reasoned.
inline constexpr std::uint32_t kKnownWell = 64, kNotesRarely = 16;
// What earlier runs have shown counts as so many tasks when it is joined with what this one has (policy/experience.h).
inline constexpr std::uint64_t kOldTasks = 16;
// Allocation sites (policy/site.h). Reasoned: so many uses tell what a site's blocks are for; a distribution is given up where
// tasks take longer under it by more than a quarter without being nearer to their data, or by more than a half; and of the
// first uses each is noted, of later ones one in kNotesRarely. First touch suits where so many thousandths are local then.
inline constexpr std::uint64_t kKnownUses = 8, kLongerPart = 4, kMuchLongerPart = 2, kNotedUses = 4096, kMostlyLocal = 900;
inline constexpr std::uint64_t kHalfLocal = 500;  // under less, what was to bring tasks to their data has not
inline constexpr std::uint64_t kMedianSettles = 16;  // a median that follows takes large steps for so many values
static_assert(kLeastGainPart < 1 && kEvenly < 1 && kMuchLost > 0 && kMuchLost <= 1);

// ---- Tasks that say nothing of their data (policy/silent.h) ---------------------------------------------------------

// So many values tell whether a word of the arguments is an address. It tells tasks apart if it changes from task to task in
// one of so many. Reasoned.
inline constexpr std::uint32_t kTellingWords = 4, kVaryingPart = 4;
// Nothing is mapped below the first. Addresses that lie closer together than kLeastBlock are no blocks with places of their
// own, and some pages stand for what their tasks use; of a block no more than kMostReach does. Reasoned.
inline constexpr std::uint64_t kLeastAddress = 65'536, kLeastBlock = 4'096, kReachOfNoBlock = 4 * kLeastBlock;
inline constexpr std::uint64_t kMostReach = std::uint64_t{4} << 20;
// What a task is taken to fetch at most in a ns of its time: half of what a core can (kBytesPerStepAndNs). So it is foretold
// to take 1.6 times as long where all its data is at twice the local distance, and the account's doubts begin below 6 %.
// Where nothing is far, where memory counts kSlowdownWhereNothingIsFar times: about what 128 KiB count in a task that rewrites them.
inline constexpr std::uint64_t kBytesPerTaskNs = 4, kBytesPerSlowTaskNs = 1;
// Tasks are compared from so many on each side on; they took longer elsewhere if by 5 % (256 · log2) and by so many standard
// errors; of so many that did not it is known. Two errors would be chance in 2 of 100 constructs. Reasoned.
inline constexpr std::int64_t kComparedTasks = 6, kManyCompared = 1'024;
inline constexpr double kLongerLogarithm = 18, kCertainErrors = 3;
// A construct is short after so many tasks that were; judged every so many; watched for so many at most.
inline constexpr std::uint32_t kTimedAtFirst = 16, kJudgedEvery = 16, kMostWatched = 2'048;
// Where the clock tells nothing so many tasks have to have a sign, and no more than this part of them at one place, nor more
// than kMostParts times what each place would have if all had the same: few places could not do all the work.
inline constexpr std::uint32_t kToldTasks = 24;
// Where they ran counts for constructs of which this part of the tasks at least runs no others.
inline constexpr double kMostAtOnePlace = 0.75, kMostParts = 3, kLeafPart = 0.75;
// A dropped construct is watched anew after so many looks at it, of which there is one in kLongestSilence tasks or more.
inline constexpr std::uint32_t kDroppedLooks = 64, kLongestSilence = 1'025;
// So many runs in a row at other locations move the place of a task: once may be chance (as kMoves of loops).
inline constexpr std::uint32_t kMovesRun = 3;

// ---- Surplus and load (policy/shares.h) ----------------------------------------------------------------------------

// surplus <=> has > (1 + 1/16) part, and has - thief's > part / 8. Where tasks release others: has > (1 + 1/8) part,
// and thief's < its part. Less is within what creators and single tasks make of any dealing. Measured.
inline constexpr std::int64_t kSurplusPart = 16, kSurplusOverThief = 8, kSurplusWhereReleased = 8;
// What waits beyond (1 + 1/8) of a location's part makes a task wait there. Measured.
inline constexpr std::int64_t kLoadPart = 8;
// Of fewer tasks for each worker a part means nothing. Reasoned.
inline constexpr std::int64_t kTellingTasks = 4;
// Running means follow a new value by a quarter; the first creation counts as no more than this, since the creator may
// have lost its CPU. Reasoned.
inline constexpr std::uint64_t kMeanFollows = 4;
inline constexpr std::uint64_t kMostFirstCreationNs = 10 * kUs;
// What policies that weigh load are shown is so old at most: little work against reading all inboxes. Measured.
inline constexpr std::uint64_t kLoadsRefreshNs = 50 * kUs;

// ---- Inboxes and what is known of pages (runtime/locality/, memory/page_map.h) -------------------------------------

// Tasks that fit into an inbox; beyond that the creator puts them into its own queue. Reasoned: 256 KiB.
inline constexpr std::uint32_t kInboxRoom = 1u << 15;
// A worker without work asks the kernel about pages so often. Reasoned: a question takes some us.
inline constexpr std::uint64_t kIdleCheckNs = 100 * kMs;
// Answers of the kernel age by this tick, and are asked for again when they are older than so many. Reasoned: balancing
// by the kernel moves pages within seconds.
inline constexpr std::int64_t kPageMapTickNs = 100 * std::int64_t{kMs};
inline constexpr std::uint32_t kPageMapOldTicks = 10;

// ---- Spinning, sleeping, napping (runtime/sync/) -------------------------------------------------------------------

// Before a waiting thread sleeps: longer than any serial part worth bridging, shorter than a scheduler's tick; under a
// quota, where time is short, about the cost of a futex round trip. Measured (results/speed.md).
inline constexpr std::int64_t kSpinNs = 2 * std::int64_t{kMs};
inline constexpr std::int64_t kScarceSpinNs = 3 * std::int64_t{kUs};
// An idle worker that leaves tasks alone naps: nobody will tell it that its patience is over. Reasoned.
inline constexpr std::int64_t kNapNs = 500 * std::int64_t{kUs};
// Turns of a spin loop: between looks at the clock, and between yields (some 25 us: waits of a busy team never get
// there); powers of two. Measured.
inline constexpr std::uint32_t kTurnsPerLook = 64, kTurnsPerYield = 1024;
static_assert((kTurnsPerLook & (kTurnsPerLook - 1)) == 0 && (kTurnsPerYield & (kTurnsPerYield - 1)) == 0);
static_assert(kTurnsPerYield % kTurnsPerLook == 0);
// In a crowd, where a thread shall not spin at all: often the awaited one needs this CPU for a moment only. Measured.
inline constexpr std::uint32_t kYieldsBeforeSleep = 2;
// A waiter for a lock is served before newcomers after this long: long against a critical section and against losing
// the CPU on the way out of one, short against what a person or a time limit notices. Reasoned.
inline constexpr std::int64_t kStarvingNs = 1 * std::int64_t{kMs};
// A turn of GOMP_SPINCOUNT. libgomp's own turn is a pause instruction and a load.
inline constexpr std::int64_t kSpinCountNs = 10;

// ---- Starting threads (runtime/team/pool.cpp) ----------------------------------------------------------------------

// The system refused a thread: it is not asked again for so long. Reasoned.
inline constexpr std::int64_t kRefusalNs = 1'000 * std::int64_t{kMs};

// ---- Loops and taskloops (runtime/loop/, runtime/task/taskloop_range.h) --------------------------------------------

// A reserve that is used up sooner is doubled: short beside what a late thread would lose, long beside an atomic.
// Measured (bench/overhead).
inline constexpr std::uint64_t kShortReserveNs = 4'800;
// A member leaves parts of other locations alone for so many looks, then for one part in kLoopWaitPart of the time that
// the loop has taken so far, and no longer than this. Measured (results/locality.md).
inline constexpr std::uint32_t kLoopLooks = 8;
inline constexpr std::uint64_t kLoopWaitPart = 16;
inline constexpr std::uint64_t kLongestLoopWaitNs = 20 * kShortReserveNs;
// What it costs to have a part of a taskloop stolen and to wait for it: less is not worth sharing. Measured.
inline constexpr std::uint64_t kWorthSharingNs = 4 * kUs;
// A thread that is busy with one task hides the rest of its piece, so pieces are a small part of its share. Reasoned.
inline constexpr std::uint64_t kPiecesPerThread = 16;
static_assert(kShortReserveNs > 0 && kLoopWaitPart > 0 && kWorthSharingNs > 0 && kPiecesPerThread > 0);

// ---- The cut-off (runtime/task/ready.h) ----------------------------------------------------------------------------

// Tasks with more data than kLargeTaskBytes wait only as far as all of them fit into kWaitingBytes: a quarter of the
// private cache of a server's core, or less. 256 tasks, the cut-off by number, of kLargeTaskBytes fill it. Reasoned.
inline constexpr std::size_t kWaitingBytes = 256 * 1024;
inline constexpr std::size_t kLargeTaskBytes = 1024;

// ---- Moving threads and pages (policy/relocation.h) ----------------------------------------------------------------

// How often memory is gone through before its use changes, where the program does not say. Paper (Broquedis et al. 2009,
// figure 3): moving pays after four passes or less, and who gives a hint means to stay for longer than that.
inline constexpr double kPassesUnknown = 10;

}  // namespace hearth::tuning
