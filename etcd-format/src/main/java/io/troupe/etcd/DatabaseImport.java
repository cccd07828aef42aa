package io.troupe.etcd;

import io.troupe.etcd.bolt.BoltReader;
import io.troupe.etcd.bolt.BoltWalk;
import io.troupe.etcd.bolt.DamagedDatabaseException;
import io.troupe.model.AuthRole;
import io.troupe.model.AuthUser;
import io.troupe.model.Bytes;
import io.troupe.model.Lease;
import io.troupe.model.MemberAttributes;
import io.troupe.mvcc.AuthRows;
import io.troupe.mvcc.HistoryImport;
import io.troupe.mvcc.MetaRows;
import io.troupe.mvcc.OrderedStore;
import io.troupe.mvcc.OrderedStore.Space;
import io.troupe.raft.membership.MembershipCodec;
import java.nio.ByteBuffer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Builds a state from a database file of etcd (SN2): keys with their history, leases, alarms, users
 * and roles. The caller passes the members: those of a new cluster, or of the database.
 */
public final class DatabaseImport {
  /** Records between two reports of progress. */
  private static final int REPORT_EVERY = 10_000;

  private final BoltReader file;
  private final HistoryImport out;

  /**
   * The cluster of the state, which contains the log up to {@code index}.
   *
   * @param members after that entry
   * @param index 0 if the state contains no entry
   * @param term term of that entry
   */
  public record Cluster(EtcdMembers members, long index, long term) {}

  /**
   * Changes of revisions (SN3).
   *
   * @param bump added to the current revision, 0 or more
   * @param markCompacted true if the new current revision counts as compacted
   */
  public record Revisions(long bump, boolean markCompacted) {
    /** No changes. */
    public static final Revisions UNCHANGED = new Revisions(0, false);
  }

  /**
   * What was imported.
   *
   * @param revision current revision of the state
   * @param compactedRevision -1 if nothing was compacted
   */
  public record Imported(long records, long revision, long compactedRevision) {}

  private DatabaseImport(BoltReader file, OrderedStore store) {
    this.file = file;
    this.out = new HistoryImport(store);
  }

  /**
   * Imports a file.
   *
   * @param store empty; after a failure its content is incomplete
   * @param progress receives the number of records so far, now and then
   * @throws DamagedDatabaseException if the file is damaged or not one of etcd
   */
  public static Imported read(
      BoltReader file,
      OrderedStore store,
      Cluster cluster,
      Revisions revisions,
      LongConsumer progress) {
    DatabaseImport all = new DatabaseImport(file, store);
    if (!file.has("key") || !file.has("meta")) {
      throw new DamagedDatabaseException(
          "not a database of etcd: the bucket key or meta is missing");
    }
    all.leases();
    all.alarms();
    all.auth();
    all.members(cluster);
    all.records(progress);
    return all.finish(cluster, revisions);
  }

  private void leases() {
    BoltWalk leases = file.walk("lease");
    while (leases.next()) {
      Lease lease = EtcdMessageReader.lease(leases.value());
      out.put(Space.LEASE, MetaRows.grant(lease.id()), MetaRows.value(lease));
    }
    // Records look their leases up.
    out.flush();
  }

  private void alarms() {
    BoltWalk alarms = file.walk("alarm");
    while (alarms.next()) {
      out.put(Space.META, MetaRows.alarm(EtcdMessageReader.alarm(alarms.key())), Bytes.EMPTY);
    }
  }

  private void auth() {
    Bytes enabled = null;
    Bytes revision = null;
    BoltWalk auth = file.walk("auth");
    while (auth.next()) {
      switch (auth.key().utf8()) {
        case "authEnabled" -> enabled = auth.value();
        case "authRevision" -> revision = auth.value();
        default -> {
          // A newer version of etcd may store more.
        }
      }
    }
    boolean on = enabled != null && enabled.length() == 1 && enabled.at(0) == 1;
    long number = revision == null ? 0 : number("authRevision", revision);
    boolean used = on || number > 1;
    BoltWalk users = file.walk("authUsers");
    while (users.next()) {
      AuthUser user = EtcdMessageReader.user(users.value());
      out.put(Space.META, AuthRows.user(user.name()), AuthRows.value(user));
      used = true;
    }
    BoltWalk roles = file.walk("authRoles");
    while (roles.next()) {
      AuthRole role = EtcdMessageReader.role(roles.value());
      out.put(Space.META, AuthRows.role(role.name()), AuthRows.value(role));
      used = true;
    }
    if (used) {
      AuthRows.Switch row = new AuthRows.Switch(on, Math.max(1, number));
      out.put(Space.META, AuthRows.AUTH, AuthRows.value(row));
      out.put(Space.META, AuthRows.SCHEMA, AuthRows.schema());
    }
  }

  private void members(Cluster cluster) {
    EtcdMembers members = cluster.members();
    out.put(
        Space.META,
        MetaRows.MEMBERSHIP,
        MembershipCodec.encode(members.membership(cluster.index())));
    members
        .peerUrls()
        .forEach(
            (member, urls) ->
                out.put(
                    Space.META,
                    MetaRows.peerUrls(member),
                    MetaRows.value(urls.stream().sorted().toList())));
    for (MemberAttributes attributes : members.published()) {
      out.put(Space.META, MetaRows.member(attributes.member()), MetaRows.value(attributes));
    }
  }

  private void records(LongConsumer progress) {
    BoltWalk records = file.walk("key");
    while (records.next()) {
      try {
        out.add(records.key(), records.value());
      } catch (IllegalArgumentException e) {
        throw new DamagedDatabaseException("damaged record: " + e.getMessage());
      }
      if (out.records() % REPORT_EVERY == 0) {
        progress.accept(out.records());
      }
    }
    progress.accept(out.records());
  }

  /**
   * The newest entry that the database contains.
   *
   * @param index 0 if it contains none
   * @param term 0 if the database does not have it, as with etcd before 3.5
   */
  public record Applied(long index, long term) {
    /**
     * Reads it.
     *
     * @throws DamagedDatabaseException if it is malformed
     */
    public static Applied of(BoltReader file) {
      long index = 0;
      long term = 0;
      BoltWalk meta = file.walk("meta");
      while (meta.next()) {
        switch (meta.key().utf8()) {
          case "consistent_index" -> index = number("consistent_index", meta.value());
          case "term" -> term = number("term", meta.value());
          default -> {
            // Not about the log.
          }
        }
      }
      return new Applied(index, term);
    }
  }

  /**
   * The compactions of a database; -1 for none.
   *
   * @param scheduled revision of the newest compaction
   * @param finished revision of the newest compaction whose records are removed
   */
  record Compactions(long scheduled, long finished) {
    static Compactions of(BoltReader file) {
      long scheduled = -1;
      long finished = -1;
      BoltWalk meta = file.walk("meta");
      while (meta.next()) {
        switch (meta.key().utf8()) {
          case "scheduledCompactRev" -> scheduled = revision("scheduledCompactRev", meta.value());
          case "finishedCompactRev" -> finished = revision("finishedCompactRev", meta.value());
          default -> {
            // Not about compactions.
          }
        }
      }
      return new Compactions(scheduled, finished);
    }

    long compacted() {
      return Math.max(scheduled, finished);
    }
  }

  private Imported finish(Cluster cluster, Revisions revisions) {
    Compactions compactions = Compactions.of(file);
    long current = Math.max(out.newestRevision(), compactions.scheduled()) + revisions.bump();
    long compacted = revisions.markCompacted() ? current : compactions.compacted();
    out.finish(
        new HistoryImport.Position(
            current,
            compacted,
            Math.min(compactions.finished(), compacted),
            cluster.index(),
            cluster.term()));
    return new Imported(out.records(), current, compacted);
  }

  private static long revision(String name, Bytes value) {
    if (value.length() != 17) {
      throw new DamagedDatabaseException(name + " has " + value.length() + " bytes");
    }
    return number(name, value.slice(0, Long.BYTES));
  }

  private static long number(String name, @Nullable Bytes value) {
    if (value == null || value.length() != Long.BYTES) {
      throw new DamagedDatabaseException(name + " is not a number of 8 bytes");
    }
    return ByteBuffer.wrap(value.toArray()).getLong();
  }
}
