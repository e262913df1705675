(let [[scale seed threads] (map #(Long/parseLong %) *command-line-args*)
      random (java.util.Random. seed)
      total (ref 0)
      accounts (vec (repeatedly 50 #(ref 1000)))]
  (defn collatz [n] (count (take-while #(not= 1 %) (iterate #(if (even? %) (/ % 2) (inc (* 3 %))) n))))
  (dotimes [round (* 8 scale)]
    (let [numbers (vec (repeatedly 3000 #(inc (.nextInt random 100000))))
          workers (doall (for [part (partition-all (quot 3000 threads) numbers)]
                           (future
                             (doseq [n part]
                               (dosync
                                 (alter (accounts (mod n 50)) - 1)
                                 (alter (accounts (mod (* 7 n) 50)) + 1)))
                             (reduce + (map collatz part)))))
          sum (reduce + (map deref workers))]
      (assert (= sum (reduce + (map collatz numbers))))
      (assert (= 50000 (reduce + (map deref accounts))))
      (eval `(let [f# (fn [x#] (* x# ~round))] (assert (= (f# 2) ~(* 2 round)))))
      (println round sum (count (into (sorted-map) (frequencies (map #(mod % 997) numbers)))))))
  (shutdown-agents))
