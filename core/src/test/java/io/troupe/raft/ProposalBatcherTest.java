package io.troupe.raft;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.Bytes;
import io.troupe.model.RequestId;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ProposalBatcherTest {
  private final List<String> effects = new ArrayList<>();
  private final ProposalBatcher<String> batcher =
      new ProposalBatcher<>(
          new ProposalBatcher.Effects<>() {
            @Override
            public void flushLater() {
              effects.add("flush later");
            }

            @Override
            public void expect(List<String> expectations) {
              effects.add("expect " + expectations);
            }

            @Override
            public void propose(List<Proposal> batch) {
              effects.add("propose " + batch.stream().map(p -> p.id().value()).toList());
            }
          });

  private static Proposal proposal(long id) {
    return new Proposal(new RequestId(id), Bytes.EMPTY);
  }

  @Test
  void waitingProposalsBecomeOneBatchWhoseCallersAreRegisteredFirst() {
    batcher.add(proposal(1), "one");
    batcher.add(proposal(2), "two");
    batcher.flush();
    batcher.add(proposal(3), "three");
    assertThat(effects)
        .containsExactly("flush later", "expect [one, two]", "propose [1, 2]", "flush later");
  }

  @Test
  void proposalOfOneTermDoesNotWaitForTheBatch() {
    batcher.add(proposal(1), "one");
    batcher.proposeNow(proposal(2), "two");
    assertThat(effects).containsExactly("flush later", "expect [two]", "propose [2]");
    assertThat(batcher.drop()).containsExactly("one");
    assertThat(batcher.drop()).isEmpty();
  }
}
