//! Judging by the length of the history, beside its floor: reading the same run from its record.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use nottwice_benches::run;
use nottwice_model::input::Source;
use nottwice_model::{record, verdict};

fn judge(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("judge");
    group.sample_size(10);
    for intents in [10, 100, 1_000] {
        let run = run(intents);
        let text = record::write(&run);
        group.throughput(Throughput::Elements(run.history.events.len() as u64));
        group.bench_function(BenchmarkId::new("verdict", intents), |bench| {
            bench.iter(|| verdict::judge(&run))
        });
        group.bench_function(BenchmarkId::new("floor: read the record", intents), |bench| {
            bench.iter(|| record::read(Source { file: "bench", text: &text }).expect("it was just written"));
        });
    }
    group.finish();
}

criterion_group!(benches, judge);
criterion_main!(benches);
