#pragma once
#include <string>

#include "reports/record/chunk_plan.h"

// A plan in the formats of CI services and schedulers. These formats are JSON, which is also valid YAML. Chunks are
// numbered from 0 in the order of the plan.

namespace torchstone::write {

/// A table for people.
std::string plan_text(const ChunkPlan& plan);
/// Schema "torchstone/plan/1", for torchstone-slurm and other programs.
std::string plan_json(const ChunkPlan& plan);
/// Returns a matrix of GitHub Actions on one line: chunk, kind, minutes and filter. Throws ReportError beyond 256 jobs.
std::string plan_github(const ChunkPlan& plan);
/// Returns a child pipeline of GitLab: a job for each chunk, and one that merges. `image` may be empty.
std::string plan_gitlab(const ChunkPlan& plan, const std::string& image);
/// Returns an Indexed Job of Kubernetes for each kind of chunk, with its filters in a ConfigMap. Throws ReportError if
/// the filters are too large for a ConfigMap.
std::string plan_k8s(const ChunkPlan& plan, const std::string& image);

}  // namespace torchstone::write
