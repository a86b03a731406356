#pragma once
#include <string>

#include "reports/write/html/view.h"

// The sections of the page, in its order. Each returns markup; empty when there is nothing to show.
namespace torchstone::html {

std::string banner(const View& view);
std::string attention_section(const View& view);
std::string why_section(const View& view);
std::string cases_section(const View& view);
std::string suites_section(const View& view);
std::string details_section(const View& view);
std::string baseline_section(const View& view);
std::string coverage_section(const View& view);
std::string run_section(const View& view);
/// `room`: bytes that the embedded results.json may take.
std::string data_section(const Report& report, size_t room);

/// What is known of one case: cause, mismatch, reproduce line, figures, metrics, notes.
std::string case_detail(const View& view, const CaseView& c);

}  // namespace torchstone::html
