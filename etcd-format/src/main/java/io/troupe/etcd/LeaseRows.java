package io.troupe.etcd;

import io.troupe.model.Bytes;
import io.troupe.model.Lease;
import io.troupe.mvcc.MetaRows;
import io.troupe.mvcc.StoreView;
import java.util.List;

/** Rows of the lease bucket: id (8 bytes) and the message {@code leasepb.Lease}. */
final class LeaseRows implements BucketRows {
  private static final int AT_ONCE = 1000;

  private final StoreView view;
  private List<Lease> leases;
  private int current = -1;

  LeaseRows(StoreView view) {
    this.view = view;
    this.leases = MetaRows.leases(view, 0, AT_ONCE);
  }

  @Override
  public boolean next() {
    current++;
    if (current == leases.size() && current == AT_ONCE) {
      long last = leases.get(current - 1).id();
      boolean isGreatest = last == -1;
      leases = isGreatest ? List.of() : MetaRows.leases(view, last + 1, AT_ONCE);
      current = 0;
    }
    return current < leases.size();
  }

  @Override
  public Bytes key() {
    return EtcdMessages.bigEndian(leases.get(current).id());
  }

  @Override
  public List<Bytes> value() {
    return List.of(EtcdMessages.lease(leases.get(current)));
  }
}
