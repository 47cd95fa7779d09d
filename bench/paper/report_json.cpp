#include "bench/paper/report_json.h"

#include "bench/paper/json_writer.h"

namespace adapvae::bench {
namespace {

void write_metrics(JsonWriter& json, const std::string& prefix, Index k, const ClusterMetrics& m) {
  const auto put = [&](const char* name, double value) { json.key(prefix + name).value(value); };
  json.key(prefix + "k").value(k);
  json.key(prefix + "k_used").value(m.clusters);  // that hold a held-out row
  put("nmi", m.nmi);
  put("nmi_geometric", m.nmi_geometric);
  put("ari", m.ari);
  put("hs", m.homogeneity);
  put("cs", m.completeness);
  put("vm", m.v_measure);
  put("acc", m.accuracy);
  put("purity", m.purity);
}

void write_scores(JsonWriter& json, const Scores& scores) {
  write_metrics(json, "", scores.clusters, scores.by_cluster);
  write_metrics(json, "components_", scores.components, scores.by_component);
}

void write_finding(JsonWriter& json, const Finding& finding) {
  json.key("class").value(finding.label).key("clusters").value(finding.clusters);
  json.key("precision").value(finding.precision).key("recall").value(finding.recall);
  json.key("f1").value(finding.f1).key("found").value(finding.found());
}

void write_stage(JsonWriter& json, std::size_t number, const StageReport& stage) {
  json.begin('{').key("stream").value(number).key("rows").value(stage.rows);
  json.key("new_classes").begin('[');
  for (const int c : stage.fresh) json.value(c);
  json.end(']').key("births").value(stage.births).key("merges").value(stage.merges);
  json.key("stray_births").value(stage.strays).key("replay_rows").value(stage.replay_rows);
  json.key("drift").value(stage.drift).key("seconds").value(stage.seconds);
  json.key("false_alarms").value(stage.false_alarms);
  const bool later = number > 1;
  json.key("earlier_nmi");
  later ? json.value(stage.earlier_nmi) : json.null();
  json.key("earlier_frozen");
  later ? json.value(stage.earlier_frozen) : json.null();
  write_scores(json, stage.scores);
  json.end('}');
}

void write_novelty(JsonWriter& json, const Report& report) {
  double precision = 0.0, recall = 0.0, f1 = 0.0;
  json.key("novelty").begin('[');
  for (const Novelty& novelty : report.novelty) {
    json.begin('{').key("stream").value(novelty.stream);
    write_finding(json, novelty.held_out);
    json.key("delay_rows").value(novelty.delay_rows);
    json.key("flagged").value(novelty.flagged).end('}');
    const auto count = static_cast<double>(report.novelty.size());
    precision += novelty.held_out.precision / count;
    recall += novelty.held_out.recall / count;
    f1 += novelty.held_out.f1 / count;
  }
  json.end(']');
  const auto put = [&](const char* name, double value) {
    json.key(name);
    report.novelty.empty() ? json.null() : json.value(value);
  };
  put("novelty_precision", precision);
  put("novelty_recall", recall);
  put("novelty_f1", f1);
}

}  // namespace

std::string report_json(const Protocol& protocol, const Streams& streams, const RunInfo& info,
                        const Report& report) {
  JsonWriter json;
  json.begin('{').key("protocol").value(protocol.name).key("set").value(info.set);
  json.key("preset").value(info.preset).key("seed").value(info.seed);
  json.key("settings").begin('{');
  for (const auto& [name, value] : info.settings) json.key(name).value(value);
  json.end('}').key("threads").value(info.threads);
  json.key("rows").value(report.rows).key("pretrain_rows").value(streams.pretrain.size());
  json.key("held_out_rows").value(report.held_out_rows);
  write_scores(json, report.scores);
  json.key("frozen").value(report.frozen);
  json.key("seconds").value(report.seconds).key("peak_mb").value(info.peak_mb);
  json.key("model_mb").value(report.model_mb);
  Index births = 0;
  Index strays = 0;
  for (const StageReport& stage : report.stages) {
    births += stage.births;
    strays += stage.strays;
  }
  json.key("births").value(births).key("false_births").value(report.false_births);
  json.key("stray_births").value(strays);
  write_novelty(json, report);
  json.key("rare");
  if (protocol.streams == StreamKind::kRare) {
    json.begin('{').key("fraction").value(streams.fraction);
    json.key("first_stream").value(report.rare.first_stream);
    json.key("held_out").begin('{');
    write_finding(json, report.rare.held_out);
    json.end('}').key("streams").begin('{');
    write_finding(json, report.rare.streams);
    json.end('}').end('}');
  } else {
    json.null();
  }
  json.key("streams").begin('[');
  for (std::size_t t = 0; t < report.stages.size(); ++t) write_stage(json, t + 1, report.stages[t]);
  json.end(']').end('}');
  return json.text();
}

}  // namespace adapvae::bench
