/**
 * Reads the write-ahead log of an etcd member (docs/formats/etcd-wal.md). Entry class: {@link
 * io.troupe.etcd.wal.EtcdLog}. Imports the model and the checksum of {@code mvcc}.
 */
@NullMarked
package io.troupe.etcd.wal;

import org.jspecify.annotations.NullMarked;
