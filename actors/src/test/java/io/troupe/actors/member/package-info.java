/**
 * Tests of actors that need a member's opened files. Entry class: SnapshotActorTest. See
 * docs/components/snapshot.md.
 */
@NullMarked
package io.troupe.actors.member;

import org.jspecify.annotations.NullMarked;
