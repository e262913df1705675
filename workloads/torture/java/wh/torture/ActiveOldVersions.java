// SPDX-License-Identifier: Apache-2.0
package wh.torture;

/** A class that is redefined while its own method is active. */
public interface ActiveOldVersions {
  long around(int levels, Runnable redefinition);
}
