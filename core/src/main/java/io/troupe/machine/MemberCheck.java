package io.troupe.machine;

import io.troupe.model.Bytes;
import io.troupe.model.NodeId;
import io.troupe.mvcc.MetaRows;
import io.troupe.mvcc.StoreView;
import io.troupe.raft.membership.Membership;
import io.troupe.raft.membership.MembershipCodec;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * Checks the rules about members in the rows of a state that no member uses
 * (docs/formats/store-keys.md, "Rules across rows").
 */
public final class MemberCheck {
  private MemberCheck() {}

  /**
   * Checks a state.
   *
   * @param problems receives one sentence for each violated rule
   */
  public static void run(StoreView store, Consumer<String> problems) {
    Bytes encoded = MetaRows.membership(store);
    Membership membership =
        encoded == null ? Membership.EMPTY : MembershipCodec.decodeMembership(encoded);
    Set<NodeId> withUrls = new TreeSet<>();
    MetaRows.forEachPeerUrls(store, (member, urls) -> withUrls.add(member));
    if (!withUrls.equals(membership.members())) {
      problems.accept(
          "the members are " + membership.members() + ", but " + withUrls + " have peer URLs");
    }
    MetaRows.forEachMember(
        store,
        member -> {
          if (!membership.contains(member.member())) {
            problems.accept("the attributes of " + member.member() + " exist, but it is no member");
          }
        });
  }
}
