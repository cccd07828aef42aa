/**
 * Database files in the format of bbolt 1.3 and later, which etcd uses. Entry classes: {@link
 * io.troupe.etcd.bolt.BoltWriter}. Imports model only. See docs/formats/etcd-database.md.
 */
@NullMarked
package io.troupe.etcd.bolt;

import org.jspecify.annotations.NullMarked;
