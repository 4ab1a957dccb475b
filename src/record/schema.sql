-- The tables and views of a recording (docs/reference/recording.md). Times are nanoseconds since the recording began.
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE problem(place TEXT, text TEXT);
CREATE TABLE process(id INTEGER PRIMARY KEY, pid INTEGER, parent_pid INTEGER, runtime TEXT, host TEXT, command TEXT,
  complete INTEGER, footprints INTEGER, creations INTEGER, forks INTEGER);
CREATE TABLE cpu(process INTEGER, cpu INTEGER, node INTEGER, PRIMARY KEY(process, cpu)) WITHOUT ROWID;
CREATE TABLE machine(process INTEGER PRIMARY KEY, name TEXT, source TEXT, pretended INTEGER, policy TEXT,
  locations TEXT, distances TEXT);
CREATE TABLE location(process INTEGER, id INTEGER, node INTEGER, cpus TEXT, holds_memory INTEGER, memory_bytes INTEGER,
  PRIMARY KEY(process, id)) WITHOUT ROWID;
CREATE TABLE distance(process INTEGER, location INTEGER, memory INTEGER, distance INTEGER, latency_ns REAL, source TEXT,
  PRIMARY KEY(process, location, memory)) WITHOUT ROWID;
CREATE TABLE thread(id INTEGER PRIMARY KEY, process INTEGER, number INTEGER, kernel_id INTEGER, type TEXT,
  begin_ns INTEGER, end_ns INTEGER, complete INTEGER);
CREATE TABLE code(id INTEGER PRIMARY KEY, process INTEGER, module TEXT, offset INTEGER, function TEXT, file TEXT,
  line INTEGER, name TEXT);
CREATE TABLE region(id INTEGER PRIMARY KEY, key INTEGER, process INTEGER, parent INTEGER, anchor INTEGER, step TEXT,
  code INTEGER, requested INTEGER, team INTEGER, league INTEGER, begin_ns INTEGER, end_ns INTEGER);
CREATE TABLE task(id INTEGER PRIMARY KEY, key INTEGER, process INTEGER, parent INTEGER, region INTEGER, anchor INTEGER,
  step TEXT, kind TEXT, code INTEGER, untied INTEGER, undeferred INTEGER, final INTEGER, outcome TEXT, creator INTEGER,
  created_ns INTEGER, creation_ns INTEGER, thread INTEGER, cpu INTEGER, begin_ns INTEGER, end_ns INTEGER,
  work_ns INTEGER, wait_ns INTEGER, create_ns INTEGER, cycles INTEGER, instructions INTEGER, cache_misses INTEGER,
  location INTEGER);
CREATE TABLE span(task INTEGER, thread INTEGER, cpu INTEGER, begin_ns INTEGER, end_ns INTEGER, location INTEGER);
CREATE TABLE wait(task INTEGER, thread INTEGER, kind TEXT, code INTEGER, begin_ns INTEGER, end_ns INTEGER,
  idle_ns INTEGER);
CREATE TABLE loop(id INTEGER PRIMARY KEY, task INTEGER, thread INTEGER, kind TEXT, construct INTEGER, code INTEGER,
  iterations INTEGER, begin_ns INTEGER, end_ns INTEGER);
CREATE TABLE chunk(loop INTEGER, task INTEGER, thread INTEGER, first INTEGER, iterations INTEGER, begin_ns INTEGER,
  end_ns INTEGER);
CREATE TABLE dependence(task INTEGER, nth INTEGER, address INTEGER, kind TEXT);
CREATE TABLE footprint(task INTEGER, nth INTEGER, address INTEGER, length INTEGER, rows INTEGER, pitch INTEGER,
  access TEXT, inferred INTEGER, stated INTEGER, decides INTEGER);
CREATE TABLE allocation(id INTEGER PRIMARY KEY, process INTEGER, thread INTEGER, address INTEGER, length INTEGER,
  code INTEGER, allocated_ns INTEGER, freed_ns INTEGER, source TEXT, distribution TEXT);
CREATE TABLE home(allocation INTEGER, location INTEGER, bytes INTEGER, asked_ns INTEGER);
CREATE TABLE first_touch(allocation INTEGER, task INTEGER, thread INTEGER, location INTEGER, pages INTEGER,
  touched_ns INTEGER);
CREATE TABLE task_bytes(task INTEGER, memory INTEGER, read INTEGER, written INTEGER, source TEXT);
CREATE TABLE decision(task INTEGER, thread INTEGER, decided_ns INTEGER, released INTEGER, stated INTEGER, location INTEGER,
  chosen INTEGER, why TEXT);
CREATE TABLE move(process INTEGER, thread INTEGER, moved_ns INTEGER, what TEXT, why TEXT, count INTEGER,
  location INTEGER, address INTEGER);
CREATE TABLE edge(task INTEGER, predecessor INTEGER);

-- Where a task's construct is: "file:line", or what is known.
CREATE VIEW construct AS
  SELECT t.id AS task, coalesce(c.name, t.kind) AS construct FROM task t LEFT JOIN code c ON c.id = t.code;
-- The work of each construct: how many tasks, how long they ran, how evenly.
CREATE VIEW work_by_construct AS
  SELECT coalesce(c.name, t.kind) AS construct, t.kind, count(*) AS tasks, sum(t.work_ns) AS work_ns,
    avg(t.work_ns) AS mean_ns, min(t.work_ns) AS least_ns, max(t.work_ns) AS most_ns, sum(t.wait_ns) AS wait_ns,
    sum(t.create_ns) AS create_ns, avg(t.begin_ns - t.created_ns) AS mean_delay_ns
  FROM task t LEFT JOIN code c ON c.id = t.code GROUP BY 1, 2 ORDER BY work_ns DESC;
-- Who ran what: spans by thread, processor and node.
CREATE VIEW who_ran_what AS
  SELECT s.thread, s.cpu, p.node, coalesce(c.name, t.kind) AS construct, count(DISTINCT s.task) AS tasks,
    sum(s.end_ns - s.begin_ns) AS ns
  FROM span s JOIN task t ON t.id = s.task LEFT JOIN code c ON c.id = t.code
    LEFT JOIN cpu p ON p.process = t.process AND p.cpu = s.cpu
  GROUP BY 1, 2, 3, 4 ORDER BY 1, ns DESC;
-- Waiting, by what it was for.
CREATE VIEW waiting AS
  SELECT w.kind, c.name AS place, count(*) AS waits, sum(w.end_ns - w.begin_ns) AS ns, sum(w.idle_ns) AS idle_ns,
    max(w.idle_ns) AS longest_idle_ns
  FROM wait w LEFT JOIN code c ON c.id = w.code GROUP BY 1, 2 ORDER BY idle_ns DESC;
-- What a thread's time went into.
CREATE VIEW thread_time AS
  SELECT h.id AS thread, h.process, h.number, h.end_ns - h.begin_ns AS ns,
    (SELECT sum(s.end_ns - s.begin_ns) FROM span s WHERE s.thread = h.id) AS in_tasks_ns,
    (SELECT sum(w.idle_ns) FROM wait w WHERE w.thread = h.id) AS idle_ns
  FROM thread h;
-- What Hearth has moved to bring threads and memory together, and why.
CREATE VIEW moves AS
  SELECT what, why, sum(count) AS count, count(*) AS events, count(DISTINCT thread) AS movers,
    min(moved_ns) AS first_ns, max(moved_ns) AS last_ns
  FROM move GROUP BY 1, 2 ORDER BY 1, 3 DESC;
-- Bytes that tasks declare, by where they ran and where the bytes are, with the distance between; -1: not known.
CREATE VIEW locality AS
  SELECT t.process, t.location, b.memory, d.distance, count(DISTINCT t.id) AS tasks, sum(b.read) AS read,
    sum(b.written) AS written
  FROM task_bytes b JOIN task t ON t.id = b.task
    LEFT JOIN distance d ON d.process = t.process AND d.location = t.location AND d.memory = b.memory
  GROUP BY 1, 2, 3;
-- How far a task ran from its bytes: the mean distance (10 is local) of those whose place is known.
CREATE VIEW task_distance AS
  SELECT b.task, sum(b.read + b.written) AS bytes,
    sum((b.read + b.written) * d.distance) * 1.0 / sum(CASE WHEN d.distance IS NULL THEN 0 ELSE b.read + b.written END)
      AS distance
  FROM task_bytes b JOIN task t ON t.id = b.task
    LEFT JOIN distance d ON d.process = t.process AND d.location = t.location AND d.memory = b.memory
  GROUP BY 1;
-- What became of each decision: kept (at its maker's place), dealt, stolen (dealt, and begun elsewhere), not begun.
CREATE VIEW outcome AS
  SELECT x.task, x.location, x.chosen, t.location AS ran, x.why,
    CASE WHEN t.begin_ns IS NULL THEN 'not begun' WHEN x.chosen IS NULL THEN
      CASE WHEN t.location = x.location OR t.location IS NULL THEN 'kept' ELSE 'kept, stolen' END
      WHEN t.location = x.chosen OR t.location IS NULL THEN 'dealt' ELSE 'dealt, stolen' END AS outcome
  FROM decision x JOIN task t ON t.id = x.task;
-- What can be compared with another run: a task's key is the same there.
CREATE VIEW comparable AS
  SELECT t.key, coalesce(c.name, t.kind) AS construct, t.work_ns FROM task t LEFT JOIN code c ON c.id = t.code
  WHERE t.end_ns IS NOT NULL;
-- The path of child numbers that the key is made from. An anchor below 0 is the region -1 - anchor.
CREATE VIEW path AS
  WITH RECURSIVE place(id, anchor, step) AS (
      SELECT id, anchor, step FROM task UNION ALL SELECT -1 - id, anchor, step FROM region),
    up(start, anchor, path) AS (
      SELECT id, anchor, step FROM place
      UNION ALL SELECT u.start, p.anchor, p.step || '/' || u.path FROM up u JOIN place p ON p.id = u.anchor)
  SELECT start AS task, path FROM up WHERE anchor IS NULL AND start >= 0;
