package io.troupe.tests.process;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;

/**
 * A test of whole processes that chooses the heaps of its members: 256 MiB, the default heap, or
 * both where the heap matters. The profile {@code small-heap} leaves it out. All other tests use
 * {@link TestHeap}.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Tag("own-heap")
public @interface OwnHeap {}
