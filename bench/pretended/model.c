#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct model model;

static void take(const char* word, const double* n, int count) {
#define IS(name, least) (strcmp(word, name) == 0 && count >= (least))
  if (IS("dilation", 1)) {
    model.dilation = n[0];
  } else if (IS("nodes", 2)) {
    model.nodes = (int)n[0], model.cores = (int)n[1];
  } else if (IS("in_flight", 2)) {
    model.in_flight = n[0], model.strided_in_flight = n[1];
  } else if (IS("computing", 2)) {
    model.clock_ghz = n[0], model.overlap = n[1];
  } else if (IS("occupancy", 2)) {
    model.remote_occupancy = n[0], model.write_occupancy = n[1];
  } else if (IS("latency", 4)) {
    model.read_ns[(int)n[0]][(int)n[1]] = n[2], model.write_ns[(int)n[0]][(int)n[1]] = n[3];
  } else if (IS("node_gbs", 1)) {
    model.node_gbs = n[0];
  } else if (IS("coherence_gbs", 1)) {
    model.coherence_gbs = n[0];
  } else if (IS("link", 2)) {
    model.link_gbs[(int)n[0]] = n[1];
    if ((int)n[0] >= model.links) model.links = (int)n[0] + 1;
  } else if (IS("route", 3)) {
    const int from = (int)n[0], to = (int)n[1];
    model.route_length[from][to] = count - 2;
    for (int i = 2; i < count; ++i) model.route[from][to][i - 2] = (int)n[i];
  } else if (IS("migration", 2)) {
    model.call_us = n[0], model.page_us = n[1];
  } else {
    fprintf(stderr, "pretend: the model has \"%s\" with %d numbers\n", word, count);
    exit(2);
  }
#undef IS
}

void model_read(const char* name) {
  FILE* file = name != NULL ? fopen(name, "r") : NULL;
  if (file == NULL) {
    fprintf(stderr, "pretend: PRETEND_MODEL=\"%s\" cannot be read; bench/pretended/run makes it\n",
            name != NULL ? name : "");
    exit(2);
  }
  char line[512];
  while (fgets(line, sizeof line, file) != NULL) {
    char* rest = NULL;
    const char* word = strtok_r(line, " \n", &rest);
    if (word == NULL) continue;
    double numbers[kMostLinks];
    int count = 0;
    for (const char* text; count < kMostLinks && (text = strtok_r(NULL, " \n", &rest)) != NULL;)
      numbers[count++] = strtod(text, NULL);
    take(word, numbers, count);
  }
  fclose(file);
  if (model.nodes < 1 || model.nodes > kMostNodes || model.dilation <= 0 || model.node_gbs <= 0 ||
      model.in_flight <= 0 || model.strided_in_flight <= 0 || model.clock_ghz <= 0) {
    fprintf(stderr, "pretend: the model in %s is not complete\n", name);
    exit(2);
  }
}
