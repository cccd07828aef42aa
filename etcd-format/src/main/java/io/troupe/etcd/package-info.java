/**
 * Files of etcd: the database that Maintenance.Snapshot sends (MT8, 8.4, 8.6). Entry class: {@link
 * io.troupe.etcd.DatabaseExport}. Imports model, mvcc, raft.membership and bolt. See
 * docs/formats/etcd-database.md.
 */
@NullMarked
package io.troupe.etcd;

import org.jspecify.annotations.NullMarked;
