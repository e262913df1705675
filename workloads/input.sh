#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the input of a workload: input.sh NAME FOLDER SEED SCALE. Equal arguments make equal bytes.
# SCALE 1 is some seconds of work for the program, and the work grows with SCALE.
set -eu

usage() {
  echo "usage: input.sh NAME FOLDER SEED SCALE; names:" \
    "$(sed -n 's/^make_\([a-z0-9]*\)() {$/\1/p' "$0" | tr '\n' ' ')" >&2
  exit 2
}

# write FILE PROGRAM: writes the output of the awk program to FILE. The program can use `scale`,
# pick(n), which returns a number from 0 to n-1, word() and sentence(words).
write() {
  awk -v seed="$seed" -v scale="$scale" '
    function pick(n) {
      state = (state * 69069 + 12345) % 4294967296
      return int(state / 65536) % n
    }
    function word(    w, i) {
      for (i = pick(3) + 2; i > 0; i--)
        w = w substr("bcdfghjklmnprstvwz", pick(18) + 1, 1) substr("aeiou", pick(5) + 1, 1)
      return w
    }
    function sentence(words,    s) {
      s = word()
      while (--words > 0) s = s " " word()
      return s "."
    }
    BEGIN { state = seed % 4294967296; pick(1); pick(1) }
    '"$2" </dev/null >"$folder/$1"
}

# SQL: two tables, indexes, joins, aggregates, updates. The script fails if the sums do not agree.
make_h2() {
  # shellcheck disable=SC2016
  write script.sql 'BEGIN {
    print "CREATE TABLE account (id INT PRIMARY KEY, owner VARCHAR(40), balance BIGINT);"
    print "CREATE TABLE transfer (id INT PRIMARY KEY, source INT, target INT, amount INT,"
    print "  note VARCHAR(99));"
    accounts = 1000
    for (i = 0; i < accounts; i++)
      printf "INSERT INTO account VALUES (%d, \047%s\047, 1000);\n", i, word()
    for (i = 0; i < 4000 * scale; i++) {
      source = pick(accounts); target = pick(accounts); amount = pick(500)
      printf "INSERT INTO transfer VALUES (%d, %d, %d, %d, \047%s\047);\n", i, source, target,
        amount, sentence(4)
      printf "UPDATE account SET balance = balance - %d WHERE id = %d;\n", amount, source
      printf "UPDATE account SET balance = balance + %d WHERE id = %d;\n", amount, target
      if (i % 1000 != 999) continue
      print "SELECT owner, SUM(amount), COUNT(*) FROM account JOIN transfer ON source = account.id"
      print "  WHERE note LIKE \047%ba%\047 GROUP BY owner ORDER BY 2 DESC, 1;"
      print "SELECT COUNT(*) FROM transfer a JOIN transfer b ON a.source = b.target"
      print "  WHERE a.amount > b.amount AND UPPER(a.note) > LOWER(b.note);"
    }
    print "CREATE INDEX by_note ON transfer (note);"
    print "SELECT SUBSTRING(note, 1, 3), AVG(amount), STDDEV_POP(amount) FROM transfer"
    print "  GROUP BY SUBSTRING(note, 1, 3) ORDER BY 2;"
    printf "SELECT 1 / CASE SUM(balance) WHEN %d THEN 1 ELSE 0 END FROM account;\n", accounts * 1000
  }'
}

# A book: running text, tables, footnotes, links between chapters.
make_fop() {
  # shellcheck disable=SC2016
  write book.fo 'BEGIN {
    print "<fo:root xmlns:fo=\"http://www.w3.org/1999/XSL/Format\"><fo:layout-master-set>"
    print "<fo:simple-page-master master-name=\"page\" page-height=\"297mm\" page-width=\"210mm\""
    print " margin=\"20mm\"><fo:region-body column-count=\"2\"/></fo:simple-page-master>"
    print "</fo:layout-master-set><fo:page-sequence master-reference=\"page\">"
    print "<fo:flow flow-name=\"xsl-region-body\" text-align=\"justify\">"
    chapters = 40 * scale
    for (c = 0; c < chapters; c++) {
      printf "<fo:block id=\"c%d\" font-size=\"16pt\" space-before=\"12pt\">%s</fo:block>\n", c,
        sentence(4)
      for (p = 0; p < 8; p++)
        printf "<fo:block space-after=\"4pt\">%s <fo:inline font-style=\"italic\">%s</fo:inline>" \
          " see page <fo:page-number-citation ref-id=\"c%d\"/></fo:block>\n", sentence(70),
          sentence(12), pick(chapters)
      print "<fo:table border=\"0.5pt solid black\"><fo:table-body>"
      for (r = 0; r < 10; r++) {
        print "<fo:table-row>"
        for (k = 0; k < 4; k++)
          printf "<fo:table-cell border=\"0.5pt solid gray\"><fo:block>%s</fo:block>" \
            "</fo:table-cell>\n", word()
        print "</fo:table-row>"
      }
      print "</fo:table-body></fo:table>"
    }
    print "</fo:flow></fo:page-sequence></fo:root>"
  }'
}

# Drawings: curves, gradients, transparency, filters, text.
make_batik() {
  for drawing in 1 2 3; do
    # shellcheck disable=SC2016
    write "drawing$drawing.svg" 'BEGIN { for (i = '$drawing'; i > 0; i--) pick(1); state += i * 977
      print "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"600\" height=\"450\"><defs>"
      for (i = 0; i < 8; i++)
        printf "<radialGradient id=\"g%d\"><stop offset=\"0\" stop-color=\"#%06x\"/>" \
          "<stop offset=\"1\" stop-color=\"#%06x\"/></radialGradient>\n", i, pick(65536) * 250,
          pick(65536) * 200
      print "<filter id=\"soft\"><feGaussianBlur stdDeviation=\"3\"/></filter></defs>"
      for (i = 0; i < 50 * scale; i++) {
        printf "<path d=\"M%d %d", pick(600), pick(450)
        for (k = 0; k < 5; k++)
          printf " C%d %d %d %d %d %d", pick(600), pick(450), pick(600), pick(450), pick(600),
            pick(450)
        printf "z\" fill=\"url(#g%d)\" opacity=\"0.%d\" stroke=\"#%06x\"%s/>\n", pick(8),
          pick(8) + 1, pick(65536) * 100, i % 40 ? "" : " filter=\"url(#soft)\""
        printf "<text x=\"%d\" y=\"%d\" font-size=\"%d\" transform=\"rotate(%d)\">%s</text>\n",
          pick(500), pick(450), pick(30) + 8, pick(40), word()
      }
      print "</svg>"
    }'
  done
}

# A catalogue, which programs/shop.xsl groups, sorts and formats, with recursion.
make_shop() {
  # shellcheck disable=SC2016
  write data.xml 'BEGIN {
    print "<shop>"
    for (i = 0; i < 12000 * scale; i++)
      printf "<item id=\"%d\" kind=\"k%d\" price=\"%d\"><name>%s</name><text>%s</text></item>\n", i,
        pick(200), pick(9000) + 1, word(), sentence(12)
    print "</shop>"
  }'
}

# Java: generics, lambdas, switches, inner classes, streams.
make_ecj() {
  for file in 0 1 2 3 4 5 6 7 8 9; do
    # shellcheck disable=SC2016
    write "Unit$file.java" 'BEGIN { state += '$file' * 977; pick(1)
      printf "package made;\nimport java.util.*;\nimport java.util.function.*;\n"
      printf "import java.util.stream.*;\npublic class Unit'$file' {\n"
      for (i = 0; i < 14 * scale; i++) {
        printf "  interface Shape%d<T extends Comparable<T>> { T key(); default int rank(T o)" \
          " { return key().compareTo(o); } }\n", i
        printf "  record Pair%d<A extends Comparable<A>, B>(A key, B value)" \
          " implements Shape%d<A> {}\n", i, i
        printf "  static <T extends Comparable<? super T>> List<T> pick%d(Collection<? extends T>" \
          " all) {\n    return all.stream().filter(x -> x.hashCode() %% %d != 0)" \
          ".sorted(Comparator.reverseOrder()).collect(Collectors.toList());\n  }\n", i, pick(90) + 2
        printf "  static String name%d(Object o) {\n    if (o instanceof String s && s.length() >" \
          " %d) return s;\n    return switch (o.hashCode() & 7) {\n", i, pick(9)
        for (k = 0; k < 7; k++) printf "      case %d -> \"%s\" + %d;\n", k, word(), pick(999)
        printf "      default -> { long sum = 0; for (int i = 0; i < %d; i++) sum += (long) i * %d" \
          " >>> 3; yield Long.toString(sum); }\n    };\n  }\n", pick(999), pick(999)
        printf "  static final Map<String, Function<Integer, Supplier<Long>>> MAP%d = Map.of(", i
        for (k = 0; k < 5; k++)
          printf "%s\"%s%d\", x -> () -> (long) x * %d", k ? ", " : "", word(), k, pick(999)
        print ");"
      }
      print "}"
    }'
  done
}

# Scala: case classes, matches, implicits, higher kinds: work for the typer.
make_scalac() {
  # shellcheck disable=SC2016
  write Made.scala 'BEGIN {
    print "package made"
    print "trait Show[T] { def show(t: T): String }"
    print "object Show { implicit val int: Show[Int] = new Show[Int] { def show(i: Int) = \"\" + i }"
    print "  implicit def list[T](implicit s: Show[T]): Show[List[T]] ="
    print "    new Show[List[T]] { def show(l: List[T]) = l.map(s.show).mkString }"
    print "  implicit def pair[A, B](implicit a: Show[A], b: Show[B]): Show[(A, B)] ="
    print "    new Show[(A, B)] { def show(p: (A, B)) = a.show(p._1) + b.show(p._2) } }"
    for (i = 0; i < 3 * scale; i++) {
      printf "sealed trait Tree%d\ncase class Leaf%d(n: Int) extends Tree%d\n", i, i, i
      printf "case class Node%d(l: Tree%d, r: Tree%d, name: String = \"%s\") extends Tree%d\n", i,
        i, i, word(), i
      printf "class Work%d {\n", i
      printf "  def sum(t: Tree%d): Int = t match { case Leaf%d(n) if n > %d => n\n", i, i, pick(9)
      printf "    case Leaf%d(_) => %d; case Node%d(l, Leaf%d(m), _) => sum(l) * m\n", i, pick(99),
        i, i
      printf "    case Node%d(l, r, n) => sum(l) + sum(r) + n.length }\n", i
      printf "  val made = for (x <- 1 to %d; y <- x to %d if x %% y != 3) yield (x, List(y))\n",
        pick(20), pick(30)
      print "  def text = made.map(p => implicitly[Show[(Int, List[Int])]].show(p)).mkString"
      print "  lazy val groups = made.groupBy(_._1).mapValues(_.map(_._2).flatten.sum).toList.sorted"
      print "}"
    }
  }'
}

# Indexing and searching with several threads, for Lucene's own benchmark.
make_lucene() {
  # shellcheck disable=SC2016
  write docs.txt 'BEGIN {
    print "FIELDS_HEADER_INDICATOR###\ttitle\tdate\tbody"
    for (i = 0; i < 6000 * scale; i++)
      printf "%s\t01-JAN-2001 10:%02d:00.000\t%s\n", sentence(4), pick(60), sentence(80)
  }'
  # shellcheck disable=SC2016
  write queries.txt 'BEGIN { for (i = 0; i < 300; i++) print i % 3 ? word() " " word() : word() "*" }'
  cat >"$folder/work.alg" <<ALG
content.source=org.apache.lucene.benchmark.byTask.feeds.LineDocSource
docs.file=$folder/docs.txt
content.source.forever=false
directory=FSDirectory
work.dir=work
compound=false
ram.flush.mb=4
analyzer=org.apache.lucene.analysis.en.EnglishAnalyzer
query.maker=org.apache.lucene.benchmark.byTask.feeds.FileBasedQueryMaker
file.query.maker.file=$folder/queries.txt
task.max.depth.log=1
ResetSystemErase
CreateIndex
[ { "add" AddDoc > : $((3000 * scale)) ] : 2
ForceMerge(1)
CloseIndex
OpenReader
[ { "search" SearchTrav(50) > : $((3000 * scale)) ] : 2
CloseReader
ALG
}

[ $# -eq 4 ] || usage
name=$1 folder=$2 seed=$3 scale=$4
case $seed$scale in *[!0-9]*) usage ;; esac
if [ -z "$seed" ] || [ -z "$scale" ]; then usage; fi
grep -q "^make_$name() {\$" "$0" || usage
mkdir -p "$folder"
"make_$name"
