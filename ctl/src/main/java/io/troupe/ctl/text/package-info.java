/**
 * Texts in the form that Go programs read and write: quoted strings, durations, integers, sizes.
 * Entry class: {@link io.troupe.ctl.text.Quoted}. May import the JDK and protobuf's byte strings.
 * See docs/ctl.md.
 */
@NullMarked
package io.troupe.ctl.text;

import org.jspecify.annotations.NullMarked;
