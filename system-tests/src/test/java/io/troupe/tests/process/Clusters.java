package io.troupe.tests.process;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;

/**
 * A test that mostly waits, for several members or for time to pass, and whose time limits are
 * wide. Two such classes run in parallel, apart from those that use all processors.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Tag("clusters")
public @interface Clusters {}
