/* SPDX-License-Identifier: Apache-2.0 */
/* A profiler in C that walks with AsyncGetStackTrace in the signal handler, as JEP 435 describes
   the function. An agent; it prints what it counted when the program ends. Option "c": with frames
   of C code, too. */
#define _GNU_SOURCE /* siginfo_t and struct sigaction */
#include <jvmti.h>
#include <profile.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

#define MOST_FRAMES 512
#define MOST_CODES 32

static jvmtiEnv* jvmti;
static uint32_t options = 0;
/* True between the thread's ThreadStart and ThreadEnd. Other threads get signals, too, whose first
   use of another kind of thread-local memory would allocate in the handler. */
static __thread int is_javas __attribute__((tls_model("initial-exec")));
/* `codes`: of Java's threads, by the negated answer. */
static long samples, others, codes[MOST_CODES], frames_of[FRAME_CPP + 1], odd_frames, without_id,
    kept_info;

static void Count(long* what) { __atomic_add_fetch(what, 1, __ATOMIC_RELAXED); }

static void CountFrame(const CallFrame* frame) {
  if (frame->type < FRAME_JAVA || frame->type > FRAME_CPP) {
    Count(&odd_frames);
    return;
  }
  Count(&frames_of[frame->type]);
  if (frame->type <= FRAME_NATIVE ? frame->java_frame.comp_level < 0
                                  : frame->non_java_frame.pc == NULL)
    Count(&odd_frames);
  if (frame->type <= FRAME_NATIVE && frame->java_frame.method_id == NULL) Count(&without_id);
}

static void OnSignal(int signal, siginfo_t* info, void* ucontext) {
  CallFrame frames[MOST_FRAMES];
  CallTrace trace = {0, frames, &trace};
  (void)signal;
  (void)info;
  AsyncGetStackTrace(&trace, MOST_FRAMES, ucontext, options);
  if (trace.frame_info != NULL) Count(&kept_info);
  if (trace.num_frames <= 0) {
    Count(!is_javas ? &others
                    : &codes[-trace.num_frames < MOST_CODES ? -trace.num_frames : MOST_CODES - 1]);
    return;
  }
  Count(&samples);
  for (int i = 0; i < trace.num_frames; i++) CountFrame(&trace.frames[i]);
}

static void SetTimer(long us) {
  const struct timeval interval = {0, us};
  const struct itimerval timer = {interval, interval};
  setitimer(ITIMER_PROF, &timer, NULL);
}

/* Makes the jmethodIDs of the class's methods. */
static void MakeIds(jclass klass) {
  jint count = 0;
  jmethodID* methods = NULL;
  if ((*jvmti)->GetClassMethods(jvmti, klass, &count, &methods) == JVMTI_ERROR_NONE)
    (*jvmti)->Deallocate(jvmti, (unsigned char*)methods);
}

static void JNICALL OnClassPrepare(jvmtiEnv* env, JNIEnv* jni, jthread thread, jclass klass) {
  (void)env;
  (void)jni;
  (void)thread;
  MakeIds(klass);
}

static void JNICALL OnThreadStart(jvmtiEnv* env, JNIEnv* jni, jthread thread) {
  (void)env;
  (void)jni;
  (void)thread;
  is_javas = 1;
}

static void JNICALL OnThreadEnd(jvmtiEnv* env, JNIEnv* jni, jthread thread) {
  (void)env;
  (void)jni;
  (void)thread;
  is_javas = 0;
}

static void JNICALL OnVmInit(jvmtiEnv* env, JNIEnv* jni, jthread thread) {
  jint count = 0;
  jclass* classes = NULL;
  struct sigaction action;
  OnThreadStart(env, jni, thread);
  (*env)->GetLoadedClasses(env, &count, &classes);
  for (jint i = 0; i < count; i++) MakeIds(classes[i]);
  (*env)->Deallocate(env, (unsigned char*)classes);
  memset(&action, 0, sizeof action);
  action.sa_sigaction = OnSignal;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(SIGPROF, &action, NULL);
  SetTimer(1000);
}

static void JNICALL OnVmDeath(jvmtiEnv* env, JNIEnv* jni) {
  (void)env;
  (void)jni;
  SetTimer(0);
  fprintf(stderr,
          "stack-trace: samples %ld java %ld inlined %ld native %ld stub %ld cpp %ld odd %ld "
          "without-id %ld kept-info %ld others %ld codes",
          samples, frames_of[FRAME_JAVA], frames_of[FRAME_JAVA_INLINED], frames_of[FRAME_NATIVE],
          frames_of[FRAME_STUB], frames_of[FRAME_CPP], odd_frames, without_id, kept_info, others);
  for (int i = 0; i < MOST_CODES; i++)
    if (codes[i] > 0) fprintf(stderr, " %d:%ld", -i, codes[i]);
  fprintf(stderr, "\n");
}

static void Enable(jvmtiEvent event) {
  (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, event, NULL);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM* vm, char* text, void* reserved) {
  jvmtiEventCallbacks callbacks;
  (void)reserved;
  if (text != NULL && strcmp(text, "c") == 0) options = 1;
  if ((*vm)->GetEnv(vm, (void**)&jvmti, JVMTI_VERSION_1_2) != JNI_OK) return JNI_ERR;
  memset(&callbacks, 0, sizeof callbacks);
  callbacks.VMInit = OnVmInit;
  callbacks.VMDeath = OnVmDeath;
  callbacks.ClassPrepare = OnClassPrepare;
  callbacks.ThreadStart = OnThreadStart;
  callbacks.ThreadEnd = OnThreadEnd;
  (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof callbacks);
  Enable(JVMTI_EVENT_VM_INIT);
  Enable(JVMTI_EVENT_VM_DEATH);
  Enable(JVMTI_EVENT_CLASS_PREPARE);
  Enable(JVMTI_EVENT_THREAD_START);
  Enable(JVMTI_EVENT_THREAD_END);
  return JNI_OK;
}
